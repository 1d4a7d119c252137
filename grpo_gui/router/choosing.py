"""What a decision starts from: checked names, the class, and numbers that depend only on seed and decision."""

import hashlib
from collections.abc import Sequence

from grpo_gui.errors import BadInputError
from grpo_gui.router.context import QueryClass, RoutingContext, explain_query_class


def checked_models(models: Sequence[str]) -> tuple[str, ...]:
    """The models as a tuple.

    Raises:
        BadInputError: there are none, one is named twice, or a name is no text.
    """
    if isinstance(models, str) or not all(isinstance(model, str) and model for model in models):
        raise BadInputError(f"The models must be a list of names, not {models!r}.")
    if not models:
        raise BadInputError("No models available for routing; add a model or an endpoint.")
    candidates = tuple(models)
    if len(set(candidates)) < len(candidates):
        twice = next(model for model in candidates if candidates.count(model) > 1)
        raise BadInputError(f"The model {twice} is in the list twice; name each model once.")
    return candidates


def class_of(context: RoutingContext, query_class: str | QueryClass | None) -> tuple[str, str]:
    """The class of a query and the reason for it, a clause that follows "because"; a given class comes first.

    Raises:
        BadInputError: a class was given that is empty.
    """
    if query_class is None:
        return explain_query_class(context)
    if isinstance(query_class, QueryClass):
        return query_class
    if not query_class:
        raise BadInputError("The query class is empty; give it a name.")
    return query_class, "it was given with the query"


def uniforms(seed: int, decision: int, count: int) -> list[float]:
    """`count` numbers in [0, 1) that depend on nothing but the seed and the decision's number."""
    data = hashlib.shake_128(f"{seed}/{decision}".encode()).digest(8 * count)
    return [int.from_bytes(data[i : i + 7], "little") / (1 << 56) for i in range(0, 8 * count, 8)]
