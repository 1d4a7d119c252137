"""Pack short texts into rows of one length, with a mask that keeps them apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

ROW_TOKENS = 64


@dataclass(frozen=True, slots=True)
class TokenText:
    """One text as ids: `prompt` then `answer` (which ends with the end token)."""

    prompt: list[int]
    answer: list[int]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.answer)


@dataclass(frozen=True, slots=True)
class PackedRows:
    """Texts in R rows of T tokens, ready for `Decoder.forward`.

    `ids`, `positions` (within the own text) are int64 (R, T); `mask` is bool (R, T, T). `places` (N,) are
    the flat places r*T + t whose logits predict the N answer tokens `targets` (N,); `text_of` (N,) is the
    index of the text each belongs to.
    """

    ids: Tensor
    positions: Tensor
    mask: Tensor
    places: Tensor
    targets: Tensor
    text_of: Tensor


def pack(texts: Sequence[TokenText], pad_id: int, row_tokens: int = ROW_TOKENS) -> PackedRows:
    """Put each text into the first row with room, longest first.

    Raises:
        ValueError: when a text is longer than a row.
    """
    members_by_row = _assign(texts, row_tokens)
    ids: list[list[int]] = [[] for _ in members_by_row]
    positions: list[list[int]] = [[] for _ in members_by_row]
    segments: list[list[int]] = [[] for _ in members_by_row]
    places: list[int] = []
    targets: list[int] = []
    text_of: list[int] = []
    for row, members in enumerate(members_by_row):
        for index in members:
            text = texts[index]
            first = row * row_tokens + len(ids[row]) + len(text.prompt) - 1
            places += range(first, first + len(text.answer))
            targets += text.answer
            text_of += [index] * len(text.answer)
            ids[row] += text.prompt + text.answer
            positions[row] += range(len(text))
            segments[row] += [index] * len(text)
    segment_RT = _tensor(segments, -1, row_tokens)
    causal_TT = torch.ones(row_tokens, row_tokens, dtype=torch.bool).tril()
    return PackedRows(
        ids=_tensor(ids, pad_id, row_tokens),
        positions=_tensor(positions, 0, row_tokens),
        mask=(segment_RT[:, :, None] == segment_RT[:, None, :]) & causal_TT,
        places=torch.tensor(places),
        targets=torch.tensor(targets),
        text_of=torch.tensor(text_of),
    )


def _assign(texts: Sequence[TokenText], row_tokens: int) -> list[list[int]]:
    """Return the indices of the texts of each row."""
    longest = max(len(text) for text in texts)
    if longest > row_tokens:
        raise ValueError(f"A text of {longest} tokens does not fit into a row of {row_tokens}.")
    members: list[list[int]] = []
    room: list[int] = []
    for index in sorted(range(len(texts)), key=lambda index: -len(texts[index])):
        row = next((row for row, left in enumerate(room) if left >= len(texts[index])), len(room))
        if row == len(room):
            room.append(row_tokens)
            members.append([])
        members[row].append(index)
        room[row] -= len(texts[index])
    return members


def _tensor(rows: list[list[int]], filler: int, row_tokens: int) -> Tensor:
    return torch.tensor([row + [filler] * (row_tokens - len(row)) for row in rows])
