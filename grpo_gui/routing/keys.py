"""Keys of endpoints: in the system's keyring or an environment variable, and nowhere else."""

import os
import re
from contextlib import suppress

from grpo_gui.errors import BadInputError, GrpoGuiError, MissingExtraError
from grpo_gui.routing.answers import NoAnswerError

SERVICE = "grpo-gui"
IN_KEYRING = "keyring"
_ENVIRONMENT = "env:"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
EXTRA = 'This needs the router extra; install it with: pip install "grpo-gui[router]"'


def variable_source(variable: str) -> str:
    """The key source of an environment variable, which must be set: else it might be the key itself.

    Raises:
        BadInputError: it is no name of a variable, or that variable is not set.
    """
    if not _VARIABLE.fullmatch(variable) or not os.environ.get(variable):
        raise BadInputError(
            "There is no environment variable of this name. Give the name of one that is set, not the key; a new one "
            "is seen when the program is started again."
        )
    return _ENVIRONMENT + variable


def keep_key(endpoint_url: str, key: str) -> str:
    """Put the key of an endpoint into the system's keyring; return its key source.

    Raises:
        MissingExtraError: keyring is not installed.
        GrpoGuiError: the system has no keyring, or refuses.
    """
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError as error:
        raise MissingExtraError(EXTRA) from error
    try:
        keyring.set_password(SERVICE, endpoint_url, key)
    except (KeyringError, OSError, RuntimeError) as error:
        raise GrpoGuiError(
            "The system's keyring cannot be used here; put the key into an environment variable and name that instead."
        ) from error
    return IN_KEYRING


def forget_key(endpoint_url: str) -> None:
    """Take the key of an endpoint out of the keyring, if it is there and the keyring lets us."""
    with suppress(ImportError):
        import keyring
        from keyring.errors import KeyringError

        with suppress(KeyringError, OSError, RuntimeError):
            keyring.delete_password(SERVICE, endpoint_url)


def find_key(endpoint_url: str, key_source: str) -> str:
    """The key of an endpoint; empty when it needs none.

    Raises:
        MissingExtraError: keyring is not installed.
        NoAnswerError: the key is not there.
    """
    if not key_source:
        return ""
    if key_source.startswith(_ENVIRONMENT):
        variable = key_source.removeprefix(_ENVIRONMENT)
        key = os.environ.get(variable, "")
        where = f"The environment variable {variable} is not set; set it and start the program again."
    else:
        key = _from_keyring(endpoint_url)
        where = f"The keyring holds no key for {endpoint_url}; add the model again with its key."
    if not key:
        raise NoAnswerError(where, is_dead=True)
    return key


def _from_keyring(endpoint_url: str) -> str:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError as error:
        raise MissingExtraError(EXTRA) from error
    try:
        return keyring.get_password(SERVICE, endpoint_url) or ""
    except (KeyringError, OSError, RuntimeError) as error:
        raise NoAnswerError("The system's keyring cannot be read; unlock it and try again.", is_dead=True) from error
