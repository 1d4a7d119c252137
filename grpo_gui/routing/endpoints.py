"""Models behind OpenAI-compatible chat endpoints: Ollama, llama.cpp, LM Studio, vLLM, transformers serve and others."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from grpo_gui.errors import BadInputError, MissingExtraError
from grpo_gui.routing.answers import Grew, NoAnswerError, Wanted
from grpo_gui.routing.keys import EXTRA, find_key

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types.chat import ChatCompletionChunk

CHECK_TIMEOUT_S = 5.0
CONNECT_TIMEOUT_S = 5.0
_NO_KEY = "none"  # the client wants one; servers without keys ignore it
_SHORTEST_KEY = 6  # a shorter one would mask ordinary words
_MASK = "•••"


def checked_url(url: str) -> str:
    """The base URL of an endpoint without a slash at its end.

    Raises:
        BadInputError: it is no http(s) address, or holds a user, a password or a query, where keys would be kept.
    """
    text = url.strip().rstrip("/")
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host or any(character.isspace() for character in text):
        raise BadInputError("The endpoint's address is no URL; give one such as http://localhost:11434/v1.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadInputError(
            "The endpoint's address must hold no user, password or query: addresses are kept in the database. "
            "Give the key apart."
        )
    return text


class Endpoint:
    """One model of one endpoint."""

    def __init__(self, name: str, url: str, model: str, key_source: str) -> None:
        self._name, self._url, self._model, self._key_source = name, url, model, key_source

    def answer(self, wanted: Wanted, grew: Grew) -> int | None:
        """Stream the answer; see `Answerer`."""
        key = find_key(self._url, self._key_source)
        with self._told(), self._client(key, wanted.time_limit_s) as client:
            stream = client.chat.completions.create(
                model=self._model, messages=[{"role": "user", "content": wanted.query}], stream=True
            )
            with stream:
                return self._read(stream, key, grew)

    def check(self) -> None:
        """Ask for the list of models; a server that has no such list is taken for alive."""
        import_client()
        from openai import NotFoundError

        key = find_key(self._url, self._key_source)
        with self._told(), self._client(key, CHECK_TIMEOUT_S) as client:
            try:
                client.models.list()
            except NotFoundError:
                return

    def _read(self, stream: "Iterable[ChatCompletionChunk]", key: str, grew: Grew) -> int | None:
        tokens: int | None = None
        spoke = finished = False
        mask = KeyMask(key)
        for chunk in stream:
            text, ended, counted = _parts(chunk)
            finished, tokens, spoke = finished or ended, counted or tokens, spoke or bool(text)
            if text:
                grew(mask.feed(text), 1)
        if rest := mask.rest():
            grew(rest, 0)
        if not finished and spoke:
            raise NoAnswerError(f"{self._name} broke off in the middle of its answer.", is_dead=False)
        if not finished:
            raise self._garbage()
        return tokens

    def _client(self, key: str, timeout_s: float) -> "OpenAI":
        import_client()
        from openai import OpenAI, Timeout

        timeout = Timeout(timeout_s, connect=min(CONNECT_TIMEOUT_S, timeout_s))
        return OpenAI(base_url=self._url, api_key=key or _NO_KEY, timeout=timeout, max_retries=0)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what the client raises into sentences of ours: a server's own words may repeat the key."""
        import_client()
        from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

        try:
            yield
        except APITimeoutError as error:
            raise NoAnswerError(f"{self._name} did not answer in time; is {self._url} busy?", is_dead=True) from error
        except APIConnectionError as error:
            raise NoAnswerError(
                f"{self._name} cannot be reached at {self._url}, or broke off; is it running?", is_dead=True
            ) from error
        except APIStatusError as error:
            raise NoAnswerError(self._refusal(error.status_code), is_dead=True) from error
        except (OpenAIError, ValueError) as error:  # ValueError: JSON or text that is none
            raise self._garbage() from error

    def _garbage(self) -> NoAnswerError:
        return NoAnswerError(
            f"{self._name} sends what is no answer of an OpenAI-compatible endpoint; check the address {self._url} "
            "(often it ends in /v1).",
            is_dead=True,
        )

    def _refusal(self, status: int) -> str:
        if status in (401, 403):
            return f"{self._name} refuses the key ({status}); add the model again with the right one."
        if status == 404:
            return f"{self._url} does not know the model {self._model} (404); check its name and the address."
        if status == 429:
            return f"{self._name} is asked too often (429); try again later."
        return f"{self._name} refuses to answer (status {status}); its own log says why."


class KeyMask:
    """Takes a key out of text that comes in pieces, in case a server repeats what it was sent."""

    def __init__(self, key: str) -> None:
        self._key = key if len(key) >= _SHORTEST_KEY else ""
        self._held = ""

    def feed(self, piece: str) -> str:
        """What of the text so far is safe to show; the beginning of a key is held back."""
        if not self._key:
            return piece
        text = (self._held + piece).replace(self._key, _MASK)
        longest = min(len(self._key) - 1, len(text))
        kept = next((size for size in range(longest, 0, -1) if text.endswith(self._key[:size])), 0)
        self._held = text[len(text) - kept :]
        return text[: len(text) - kept]

    def rest(self) -> str:
        """What was held back and turned out to be no key."""
        held, self._held = self._held, ""
        return held


def _parts(chunk: "ChatCompletionChunk") -> tuple[str, bool, int | None]:
    """Text, whether it ends here, and the tokens when they are told; the client does not check what servers send."""
    given: Any = chunk
    choices = getattr(given, "choices", None) or ()
    choice = choices[0] if isinstance(choices, list) and choices else None
    text = getattr(getattr(choice, "delta", None), "content", None)
    tokens = getattr(getattr(given, "usage", None), "completion_tokens", None)
    return (
        text if isinstance(text, str) else "",
        bool(getattr(choice, "finish_reason", None)),
        tokens if isinstance(tokens, int) and tokens > 0 else None,
    )


def import_client() -> None:
    """See that the client is installed.

    Raises:
        MissingExtraError: it is not.
    """
    try:
        import openai  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise MissingExtraError(EXTRA) from error
