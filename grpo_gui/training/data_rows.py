"""What a preview of data shows. Free of torch."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DataRow:
    """One prompt: its text with special tokens, its tokens, and how many were cut off at its beginning."""

    text: str
    answer: str | None
    tokens: int
    cut: int


@dataclass(frozen=True, slots=True)
class DataPreview:
    """The first rows, and how many there are (None: not counted)."""

    rows: tuple[DataRow, ...]
    count: int | None
