"""Router policies by name, so that a program can choose one from a setting."""

from typing import ClassVar

from grpo_gui.router.reference import GRPORouterPolicy

KEY = "grpo"


class RouterPolicyRegistry:
    """The registered policy classes, shared by the whole process."""

    _policies: ClassVar[dict[str, type]] = {}

    @classmethod
    def contains(cls, key: str) -> bool:
        """True when a policy has this name."""
        return key in cls._policies

    @classmethod
    def get(cls, key: str) -> type:
        """The policy class with this name.

        Raises:
            KeyError: there is none.
        """
        if key not in cls._policies:
            raise KeyError(f"There is no router policy named {key!r}; ensure_registered() adds {KEY!r}.")
        return cls._policies[key]

    @classmethod
    def register_value(cls, key: str, policy: type) -> None:
        """Give a policy class a name.

        Raises:
            ValueError: the name is taken.
        """
        if key in cls._policies:
            raise ValueError(f"There is a router policy named {key!r} already; choose another name.")
        cls._policies[key] = policy

    @classmethod
    def create(cls, key: str, **options: object) -> object:
        """A new policy of this name, made with its constructor's options."""
        policy: object = cls.get(key)(**options)
        return policy

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """The names, in the order of registration."""
        return tuple(cls._policies)

    @classmethod
    def clear(cls) -> None:
        """Forget all names."""
        cls._policies.clear()


def ensure_registered() -> None:
    """Register the reference policy as "grpo" unless something has that name already."""
    if not RouterPolicyRegistry.contains(KEY):
        RouterPolicyRegistry.register_value(KEY, GRPORouterPolicy)
