"""Gathers what was read into batches for the store, and puts together what belongs together before it is written."""

from dataclasses import replace

from grpo_gui.outside.assembling import Assembler
from grpo_gui.outside.pieces import Piece, SampleChange, StartRow
from grpo_gui.outside.source import Source
from grpo_gui.store.records_outside import OutsideBatch, OutsideStart, OutsideStep, SampleUpdate, SourceRecord

BATCH_STEPS = 200
BATCH_COMPLETIONS = 2000


class Gathering:
    """What waits for the next transaction."""

    def __init__(self) -> None:
        self._starts: list[OutsideStart] = []
        self._steps: list[OutsideStep] = []
        self._updates: list[SampleUpdate] = []
        self._groups: dict[tuple[int, int], tuple[int, int]] = {}  # step and group: places of step and group
        self._completions = 0

    @property
    def steps(self) -> list[OutsideStep]:
        """The steps that wait."""
        return self._steps

    def take(self, assembler: Assembler, source: Source, piece: Piece) -> None:
        """Add a piece."""
        if isinstance(piece, SampleChange):
            self._change(assembler.update(piece))
        elif isinstance(piece, StartRow):
            self._starts.append(assembler.start(piece))
        else:
            for step in assembler.steps(source, piece):
                self._add(step)

    def _add(self, step: OutsideStep) -> None:
        last = self._steps[-1] if self._steps else None
        is_part = last is not None and last.step == step.step and last.is_evaluation == step.is_evaluation
        if last is not None and is_part and not step.may_restart and not last.may_restart:
            self._steps[-1] = replace(
                last,
                metrics=last.metrics + step.metrics,
                groups=last.groups + step.groups,
                time_s=step.time_s if last.time_s is None else last.time_s,
            )
        else:
            self._steps.append(step)
        place, first = len(self._steps) - 1, len(self._steps[-1].groups) - len(step.groups)
        for offset, group in enumerate(step.groups):
            self._groups[step.step, group.index] = (place, first + offset)
            self._completions += len(group.completions)

    def _change(self, update: SampleUpdate) -> None:
        """Change a sample that waits itself; one that is stored already is updated there."""
        found = self._groups.get((update.step, update.group))
        if found is None:
            self._updates.append(update)
            return
        place, number = found
        step = self._steps[place]
        group = step.groups[number]
        samples = tuple(update.sample if one.index == update.sample.index else one for one in group.completions)
        groups = list(step.groups)
        groups[number] = replace(group, completions=samples)
        self._steps[place] = replace(step, groups=tuple(groups))

    def batch(self, sources: tuple[SourceRecord, ...] = ()) -> OutsideBatch:
        """All that waits."""
        return OutsideBatch(tuple(self._starts), tuple(self._steps), tuple(self._updates), sources)

    @property
    def is_full(self) -> bool:
        """True when it is time to write."""
        return (
            len(self._steps) >= BATCH_STEPS
            or self._completions >= BATCH_COMPLETIONS
            or len(self._updates) >= BATCH_COMPLETIONS
        )

    @property
    def is_empty(self) -> bool:
        """True when nothing waits."""
        return not (self._starts or self._steps or self._updates)
