"""Puts the pieces of all sources of a run together, step by step, into what the store writes."""

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b

from grpo_gui.outside.completeness import Completeness
from grpo_gui.outside.grouping import AdvantageCheck, group_sample, group_size_of, rebuild, run_lengths, with_advantages
from grpo_gui.outside.names import Named, is_evaluation, plain_name
from grpo_gui.outside.pieces import Piece, RunInfo, Sample, SampleChange, SampleRows, ScalarRow, StartRow, StoredGroup
from grpo_gui.outside.source import Source
from grpo_gui.outside.weights import WeightFinder
from grpo_gui.store.records_outside import OutsideMetric, OutsideStart, OutsideStep, SampleUpdate

MEANS_AGREE = 1e-4
FORGET_AFTER = 1000  # steps whose log rows are kept to compare samples with


class Assembler:
    """Feed it pieces, take steps. `verify`: the run was read before, so numbers are compared with the stored ones."""

    def __init__(self, info: RunInfo, *, verify: bool = False) -> None:
        self.config = info.config
        self._known_weights = info.weights
        self._weights = WeightFinder()
        self._names: dict[tuple[str, str], Named] = {}
        self.completeness = Completeness()
        self.check = AdvantageCheck()
        self._verify = verify
        self._size = 0  # of a group, from what was seen so far
        self._means: dict[int, dict[str, float]] = {}  # by step: the logged mean of each reward
        self._evaluated: set[int] = set()
        self._logged: set[str] = set()  # reward functions
        self._newest: dict[str, tuple[int, bytes]] = {}  # source: step and digest of its newest samples
        self._appended: dict[str, tuple[int, int]] = {}  # source: step and groups so far

    def steps(self, source: Source, piece: Piece) -> Iterator[OutsideStep]:
        """What a piece says of its step; nothing for pieces that say nothing of one."""
        if isinstance(piece, ScalarRow):
            yield self._scalars(source, piece)
        elif isinstance(piece, StoredGroup):
            self.completeness.count(piece.step, len(piece.group.completions))
            yield OutsideStep(piece.step, groups=(piece.group,), time_s=piece.time_s)
        elif isinstance(piece, SampleRows):
            yield from self._samples(source, piece)

    @staticmethod
    def update(piece: SampleChange) -> SampleUpdate:
        """What a change of a sample means for the store."""
        return SampleUpdate(piece.step, piece.group, piece.sample)

    @staticmethod
    def start(piece: StartRow) -> OutsideStart:
        """What a start means for the store."""
        return OutsideStart(piece.session, piece.step, piece.versions, piece.device)

    @property
    def weights(self) -> Mapping[str, float]:
        """The weights of the reward functions; empty where they are not known, which counts as 1 for each."""
        return self._known_weights or self._weights.weights or {}

    # -- numbers --------------------------------------------------------------------------------------

    def _scalars(self, source: Source, row: ScalarRow) -> OutsideStep:
        metrics: dict[str, OutsideMetric] = {}
        for raw, value in row.values.items():
            name, definition_id = self._named(source, raw)
            metrics.setdefault(name, OutsideMetric(name, raw, definition_id, value))
        evaluation = is_evaluation(row.values)
        self._weights.feed(row.values)
        self._remember(row, evaluation=evaluation)
        self.completeness.log(row, evaluation=evaluation)
        return OutsideStep(
            row.step,
            tuple(metrics.values()),
            time_s=row.time_s,
            may_restart=row.may_restart or (self._verify and not evaluation),
            is_evaluation=evaluation,
        )

    def _named(self, source: Source, raw: str) -> Named:
        """Our name for a metric, looked up once."""
        key = (source.format, raw)
        if key not in self._names:
            self._names[key] = source.name_of(raw, self.config)
        return self._names[key]

    def _remember(self, row: ScalarRow, *, evaluation: bool) -> None:
        if evaluation:
            self._evaluated.add(row.step)
            return
        means = {}
        for raw, value in row.values.items():
            name = plain_name(raw)
            if name.startswith("rewards/") and name.endswith("/mean"):
                means[name[len("rewards/") : -len("/mean")]] = value
        if means:
            self._logged |= means.keys()
            self._means[row.step] = means
            if len(self._means) > FORGET_AFTER:
                del self._means[next(iter(self._means))]

    # -- samples --------------------------------------------------------------------------------------

    def _samples(self, source: Source, rows: SampleRows) -> Iterator[OutsideStep]:
        digest = _digest(rows.samples)
        step, newest = self._newest.get(source.name, (-1, b""))
        self._newest[source.name] = (rows.step, digest)
        if newest == digest and not rows.appends:
            if step != rows.step:
                self.completeness.repeated.add(rows.step)
            return
        if rows.step in self._evaluated and not self._is_training_batch(rows):
            self.completeness.overwritten.add(rows.step)
            return
        samples = [self._without_extras(sample) for sample in rows.samples]
        size = group_size_of(run_lengths(samples))
        self._size = math.gcd(self._size, size) if math.gcd(self._size, size) > 1 else size
        groups = with_advantages(rebuild(samples, self._size), self.weights, self.check, source.eps)
        first = self._first_index(source, rows, len(groups))
        self.completeness.count(rows.step, len(samples))
        stored = tuple(group_sample(first + i, group, source.format, self.weights) for i, group in enumerate(groups))
        yield OutsideStep(rows.step, groups=stored, time_s=rows.time_s)

    def _first_index(self, source: Source, rows: SampleRows, count: int) -> int:
        """Groups of a step that comes in parts are counted on."""
        step, before = self._appended.get(source.name, (-1, 0))
        first = before if rows.appends and step == rows.step else 0
        self._appended[source.name] = (rows.step, first + count)
        return first

    def _is_training_batch(self, rows: SampleRows) -> bool:
        """True when the samples have the means that training logged at their step."""
        means = self._means.get(rows.step)
        if not means:
            return False
        for name, mean in means.items():
            values = [value for sample in rows.samples for source, value in sample.rewards if source == name]
            spoken = [value for value in values if value is not None]
            if spoken and abs(math.fsum(spoken) / len(spoken) - mean) > MEANS_AGREE * max(1.0, abs(mean)):
                return False
        return True

    def _without_extras(self, sample: Sample) -> Sample:
        """Without the columns that are no rewards: those that the log has no mean of."""
        if not self._logged or not any(name in self._logged for name, _ in sample.rewards):
            return sample
        return replace(sample, rewards=tuple(pair for pair in sample.rewards if pair[0] in self._logged))


def merged(sources: Iterable[Source], *, final: bool = False) -> Iterator[tuple[Source, Piece]]:
    """The pieces of several sources by rising step; of one step the numbers come first.

    Raises:
        OSError: a file cannot be read.
    """

    def pieces(source: Source) -> Iterator[tuple[int, int, Source, Piece]]:
        for piece in source.read(final=final):
            yield piece.step, 0 if isinstance(piece, ScalarRow) else 1, source, piece

    for _, _, source, piece in heapq.merge(*map(pieces, sources), key=lambda one: one[:2]):
        yield source, piece


def _digest(samples: Iterable[Sample]) -> bytes:
    digest = blake2b(digest_size=16)
    for sample in samples:
        digest.update(sample.prompt.encode("utf-8", "surrogatepass") + b"\0")
        digest.update(sample.text.encode("utf-8", "surrogatepass") + b"\1")
    return digest.digest()
