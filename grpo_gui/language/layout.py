"""Where the tokens of several groups lie in one flat matrix of rows: [prompts | completions | filler]."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor

ROW_MULTIPLE = 64  # a new number of rows each step makes oneDNN build new kernels: a quarter of the step


@dataclass(frozen=True, slots=True)
class Segment:
    """Texts that lie one behind the other in flat rows, and their dense form (count, width, ...).

    `place` (rows,) is the dense place of each flat row; None when all texts are equally long.
    """

    count: int
    width: int
    rows: int
    place: Tensor | None

    @classmethod
    def of_lengths(cls, lengths: Sequence[int], device: torch.device) -> "Segment":
        """The segment of texts with these lengths in tokens; 0 is allowed, yet the width is at least 1."""
        count, width, rows = len(lengths), max(1, *lengths), sum(lengths)
        if rows == count * width:
            return cls(count, width, rows, None)
        inside = torch.arange(width) < torch.tensor(lengths).unsqueeze(1)
        return cls(count, width, rows, inside.flatten().nonzero().squeeze(1).to(device))

    def dense(self, rows: Tensor) -> Tensor:
        """Flat rows (rows, ...) as (count, width, ...), 0 behind each text's end."""
        if self.place is not None:
            empty = rows.new_zeros(self.count * self.width, *rows.shape[1:])
            rows = empty.index_copy(0, self.place, rows)
        return rows.reshape(self.count, self.width, *rows.shape[1:])

    def flat(self, dense: Tensor) -> Tensor:
        """The inverse of `dense`: (count, width, ...) as (rows, ...)."""
        places = dense.reshape(self.count * self.width, *dense.shape[2:])
        return places if self.place is None else places.index_select(0, self.place)


@dataclass(frozen=True, slots=True)
class GroupLayout:
    """P prompts and the G completions of each as flat rows, every prompt stored once.

    A completion's last token is no input, so its text in `completions` is one token shorter than the completion.

    Attributes:
        group_size: G.
        ids: input ids of all rows (N,), N a multiple of ROW_MULTIPLE.
        positions: the place of each row's token in its own text (N,).
        prompts: the first rows, P texts.
        completions: the rows behind them, P * G texts.
        predicting: the flat rows that predict completion tokens: each prompt's last, then all completions'; filled
            with others to a multiple of ROW_MULTIPLE.
        prompt_lengths: tokens of each prompt (P,).
    """

    group_size: int
    ids: Tensor
    positions: Tensor
    prompts: Segment
    completions: Segment
    predicting: Tensor
    prompt_lengths: Tensor

    @property
    def filler(self) -> int:
        """Rows at the end that belong to no text."""
        return len(self.ids) - self.prompts.rows - self.completions.rows

    @property
    def spare(self) -> int:
        """Rows at the end of `predicting` that predict nothing of use."""
        return len(self.predicting) - self.prompts.count - self.completions.rows


def lay_out(prompts: Sequence[Sequence[int]], completions: Tensor, lengths: Tensor) -> GroupLayout:
    """Lay out prompts and their completions (P * G, T) of `lengths` (P * G,) tokens, from 1 to T each."""
    device = completions.device
    prompt_lengths = [len(prompt) for prompt in prompts]
    input_lengths = [length - 1 for length in lengths.tolist()]
    first, second = Segment.of_lengths(prompt_lengths, device), Segment.of_lengths(input_lengths, device)
    prompt_ids = torch.tensor(list(chain.from_iterable(prompts)), device=device)
    prompt_positions = torch.tensor(list(chain.from_iterable(map(range, prompt_lengths))), device=device)
    starts = torch.tensor(prompt_lengths, device=device)
    group_size = len(input_lengths) // len(prompt_lengths)
    own_positions = starts.repeat_interleave(group_size).unsqueeze(1) + torch.arange(second.width, device=device)
    filler = _filler(first.rows + second.rows, device)
    own_rows = torch.arange(first.rows, first.rows + second.rows, device=device)
    return GroupLayout(
        group_size=group_size,
        ids=torch.cat((prompt_ids, second.flat(completions[:, : second.width]), filler)),
        positions=torch.cat((prompt_positions, second.flat(own_positions), filler)),
        prompts=first,
        completions=second,
        predicting=torch.cat((starts.cumsum(0) - 1, own_rows, _filler(first.count + second.rows, device))),
        prompt_lengths=starts,
    )


def _filler(rows: int, device: torch.device) -> Tensor:
    """As many zeros as `rows` lack to a multiple of ROW_MULTIPLE."""
    return torch.zeros(-rows % ROW_MULTIPLE, dtype=torch.int64, device=device)
