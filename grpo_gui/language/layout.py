"""Where the tokens of several groups lie in one flat matrix of rows: [prompts | completions | filler]."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from grpo_gui.language.kernels import Context

ROW_MULTIPLE = 64  # a new number of rows each step makes oneDNN build new kernels: a quarter of the step


@dataclass(frozen=True, slots=True)
class Segment:
    """Texts that lie one behind the other in flat rows, and their dense form (count, width, ...).

    `source` (count * width,) is the flat row of each dense place (any row for places behind a text's end), `place`
    (rows,) the dense place of each flat row; both are None when all texts are equally long.
    """

    count: int
    width: int
    rows: int
    source: Tensor | None
    place: Tensor | None

    @classmethod
    def of_lengths(cls, lengths: Sequence[int], device: torch.device) -> "Segment":
        """The segment of texts with these lengths, in tokens; 0 is allowed."""
        count, width, rows = len(lengths), max(lengths), sum(lengths)
        if rows == count * width:
            return cls(count, width, rows, None, None)
        counts = torch.tensor(lengths)
        inside = torch.arange(width) < counts.unsqueeze(1)
        place = inside.flatten().nonzero().squeeze(1)
        source = torch.zeros(count * width, dtype=torch.int64).index_copy_(0, place, torch.arange(rows))
        return cls(count, width, rows, source.to(device), place.to(device))

    def dense(self, rows: Tensor) -> Tensor:
        """Flat rows (rows, ...) as (count, width, ...)."""
        if self.source is not None and self.place is not None:
            rows = _Reorder.apply(rows, self.source, self.place)  # type: ignore[no-untyped-call]  # torch's own
        return rows.reshape(self.count, self.width, *rows.shape[1:])

    def flat(self, dense: Tensor) -> Tensor:
        """The inverse of `dense`: (count, width, ...) as (rows, ...)."""
        places = dense.reshape(self.count * self.width, *dense.shape[2:])
        if self.place is not None:
            places = _Gather.apply(places, self.place)  # type: ignore[no-untyped-call]  # torch's own
        return places


@dataclass(frozen=True, slots=True)
class GroupLayout:
    """P prompts and the G completions of each as flat rows, every prompt stored once.

    A completion's last token is no input, so its row in `completions` is one token shorter than the completion.

    Attributes:
        group_size: G.
        ids: input ids of all rows (N,), N a multiple of ROW_MULTIPLE.
        positions: the place of each row's token in its own text (N,).
        prompts: the first rows, P texts.
        completions: the rows behind them, P * G texts.
        last_rows: the flat row of each prompt's last token (P,).
        prompt_lengths: tokens of each prompt (P,).
    """

    group_size: int
    ids: Tensor
    positions: Tensor
    prompts: Segment
    completions: Segment
    last_rows: Tensor
    prompt_lengths: Tensor

    @property
    def filler(self) -> int:
        """Rows at the end that belong to no text."""
        return len(self.ids) - self.prompts.rows - self.completions.rows


def lay_out(prompts: Sequence[Sequence[int]], completions: Tensor, lengths: Tensor) -> GroupLayout:
    """Lay out prompts and their completions (P * G, T) of `lengths` (P * G,) tokens, from 1 to T each."""
    device = completions.device
    prompt_lengths = [len(prompt) for prompt in prompts]
    input_lengths = [length - 1 for length in lengths.tolist()]
    first, second = Segment.of_lengths(prompt_lengths, device), Segment.of_lengths(input_lengths, device)
    used = first.rows + second.rows
    filler = -used % ROW_MULTIPLE
    prompt_ids = torch.tensor(list(chain.from_iterable(prompts)), device=device)
    padding = prompt_ids.new_zeros(filler)
    group_size = len(input_lengths) // len(prompt_lengths)
    starts = torch.tensor(prompt_lengths, device=device).repeat_interleave(group_size)
    offsets = torch.arange(second.width, device=device)
    prompt_positions = torch.tensor(list(chain.from_iterable(map(range, prompt_lengths))), device=device)
    return GroupLayout(
        group_size=group_size,
        ids=torch.cat((prompt_ids, second.flat(completions[:, : second.width]), padding)),
        positions=torch.cat((prompt_positions, second.flat(starts.unsqueeze(1) + offsets), padding)),
        prompts=first,
        completions=second,
        last_rows=torch.tensor(prompt_lengths, device=device).cumsum(0) - 1,
        prompt_lengths=torch.tensor(prompt_lengths, device=device),
    )


class _Reorder(torch.autograd.Function):
    """Flat to dense. No gradient reaches places behind a text's end, so the way back is a plain gather too."""

    @staticmethod
    def forward(ctx: Context, rows: Tensor, source: Tensor, place: Tensor) -> Tensor:
        ctx.save_for_backward(place)
        return rows.index_select(0, source)

    @staticmethod
    @once_differentiable
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor, None, None]:
        (place,) = ctx.saved_tensors
        return gradient.index_select(0, place), None, None


class _Gather(torch.autograd.Function):
    """Dense to flat; every place is taken once at most, so the way back writes instead of adding."""

    @staticmethod
    def forward(ctx: Context, places: Tensor, place: Tensor) -> Tensor:
        ctx.save_for_backward(place)
        ctx.shape = places.shape
        return places.index_select(0, place)

    @staticmethod
    @once_differentiable
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor, None]:
        (place,) = ctx.saved_tensors
        return gradient.new_zeros(ctx.shape).index_copy_(0, place, gradient), None
