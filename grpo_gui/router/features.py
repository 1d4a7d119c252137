"""Query features without a model: hashed character and word n-grams, the same on every machine."""

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

Float32Array = npt.NDArray[np.float32]

BUCKETS = 4096
_CHARACTERS = (3, 4, 5)
_WORDS = (1, 2)
_WORD = re.compile(r"\w+|[^\w\s]")
_HEAD, _TAIL = 1500, 500  # characters of a long query that are looked at: its beginning and its end


class FeatureSource(Protocol):
    """Turns queries into numbers."""

    name: str  # "hashed n-grams", or the folder of a sentence embedding model
    size: int

    def __call__(self, queries: Sequence[str]) -> Float32Array:
        """Features (queries, size); every row has length 1, or 0 for a query that says nothing."""


class HashedNgrams:
    """Counts of n-grams, each hashed to one of `BUCKETS` places, log-scaled; every row has length 1."""

    name = "hashed n-grams"
    size = BUCKETS

    def __call__(self, queries: Sequence[str]) -> Float32Array:
        """Features (queries, BUCKETS)."""
        rows = np.zeros((len(queries), BUCKETS), dtype=np.float32)
        for row, query in zip(rows, queries, strict=True):
            counts = Counter(zlib.crc32(gram) % BUCKETS for gram in _grams(query))
            places = list(counts)
            row[places] = np.log1p(np.array([counts[place] for place in places], dtype=np.float32))
            length = np.linalg.norm(row)
            if length > 0:
                row /= length
        return rows


class FeatureCache:
    """Keeps the features of queries, by a number for each; only what is not 0."""

    def __init__(self, source: FeatureSource) -> None:
        self._source = source
        self._kept: dict[int, tuple[npt.NDArray[np.int64], Float32Array]] = {}

    @property
    def size(self) -> int:
        """Features of a query."""
        return self._source.size

    def __call__(self, queries: Sequence[tuple[int, str]]) -> Float32Array:
        """Features (queries, size) of (number, query) pairs."""
        new = {number: query for number, query in queries if number not in self._kept}
        for number, row in zip(new, self._source(tuple(new.values())), strict=True):
            places = np.flatnonzero(row)
            self._kept[number] = (places, row[places])
        rows = np.zeros((len(queries), self.size), dtype=np.float32)
        for row, (number, _) in zip(rows, queries, strict=True):
            places, values = self._kept[number]
            row[places] = values
        return rows


def feature_source(name: str) -> FeatureSource:
    """The features by their name: "hashed n-grams", or the folder of a sentence-transformers-style model.

    Raises:
        MissingExtraError: the folder needs the hf extra.
        ModelError: the folder holds no such model.
    """
    if name == HashedNgrams.name:
        return HashedNgrams()
    # By name, as in the packages' lazy __init__: only this choice of the user's leads to torch.
    source: FeatureSource = import_module("grpo_gui.router.embeddings").SentenceEmbeddings(Path(name))
    return source


def _grams(query: str) -> list[bytes]:
    text = query.lower()
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]} {text[-_TAIL:]}"
    words = _WORD.findall(text)
    padded = f" {' '.join(words)} "
    grams = [f"c{padded[i : i + n]}" for n in _CHARACTERS for i in range(len(padded) - n + 1)]
    grams += [f"w{' '.join(words[i : i + n])}" for n in _WORDS for i in range(len(words) - n + 1)]
    return [gram.encode("utf-8", "surrogatepass") for gram in grams]
