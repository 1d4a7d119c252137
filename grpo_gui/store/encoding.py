"""How values that SQLite would lose or cut are kept: odd text, NaN, lists of ids."""

import hashlib
import math
import struct
from collections.abc import Sequence

import numpy as np

SqlValue = str | bytes | int | float | None


def encode_text(text: str) -> str | bytes:
    """Text as it is, or its UTF-8 bytes when SQLite tools would cut it (NUL) or refuse it (lone surrogates)."""
    if "\0" in text:
        return text.encode("utf-8", "surrogatepass")
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def encode_optional_text(text: str | None) -> str | bytes | None:
    """`encode_text`, None stays None."""
    return None if text is None else encode_text(text)


def decode_text(value: str | bytes) -> str:
    """The inverse of `encode_text`."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def decode_optional_text(value: str | bytes | None) -> str | None:
    """The inverse of `encode_optional_text`."""
    return None if value is None else decode_text(value)


def nan_columns(**values: float | None) -> str | None:
    """The names of the NaN values, separated by blanks; None when there is no NaN."""
    names = [name for name, value in values.items() if value is not None and math.isnan(value)]
    return " ".join(names) if names else None


def decode_number(value: float | None, name: str, nan_names: str | None) -> float | None:
    """A value that may be None: NaN when the row names the column as NaN."""
    if value is None and nan_names is not None and name in nan_names.split(" "):
        return math.nan
    return value


def number_or_nan(value: float | None) -> float:
    """A value that must be there: NULL stands for NaN."""
    return math.nan if value is None else value


def encode_ids(ids: Sequence[int]) -> bytes:
    """Token ids as little-endian unsigned integers of 2 bytes, or 4 when one does not fit.

    Raises:
        OverflowError: an id is negative or needs more than 32 bits.
    """
    if not ids:
        return b""
    if min(ids) < 0 or max(ids) > 0xFFFFFFFF:
        raise OverflowError("a token id is negative or needs more than 32 bits")
    return np.array(ids, dtype="<u2" if max(ids) <= 0xFFFF else "<u4").tobytes()


def decode_ids(blob: bytes, count: int) -> tuple[int, ...]:
    """The inverse of `encode_ids` for `count` ids."""
    if not count:
        return ()
    return struct.unpack(f"<{count}{'H' if len(blob) == 2 * count else 'I'}", blob)


def prompt_digest(task: str, prompt: str, answer: str | None, token_ids: bytes) -> bytes:
    """16 bytes that name a prompt; equal only for equal task, prompt, answer and token ids."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (task, prompt, answer):
        data = b"" if part is None else part.encode("utf-8", "surrogatepass")
        digest.update((-1 if part is None else len(data)).to_bytes(8, "little", signed=True))
        digest.update(data)
    digest.update(token_ids)
    return digest.digest()
