"""The runs that are overlaid: which, in which style, and their curves as the plots ask for them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import RunRecord, SeriesPoints, StepTotals
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.models.run_styles import RunStyle, free_slot, style_of
from grpo_gui.ui.run_text import run_title
from grpo_gui.ui.workspace import Workspace

READ_MS = 1000


@dataclass(slots=True, eq=False)
class OverlaidRun:
    """A run with its style and the curves read so far."""

    run: RunRecord
    slot: int
    series: RunSeries
    title: str  # the run's name with its seed, and its number where others of the overlaid runs are called the same
    names: tuple[str, ...] = ()  # all metrics that the store has of it

    @property
    def style(self) -> RunStyle:
        """Colour and dash."""
        return style_of(self.slot)


@dataclass(frozen=True, slots=True)
class _Wanted:
    run_id: int
    after: dict[str, int]  # metric -> newest step known, -1 before the first
    after_step: int


@dataclass(frozen=True, slots=True)
class _Part:
    run_id: int
    points: tuple[SeriesPoints, ...]
    totals: StepTotals
    names: tuple[str, ...]
    whole: RunSeries | None  # at the first reading: made beside the GUI thread, because a long run takes its time


class RunOverlay(QObject):
    """Reads the wanted metrics of the overlaid runs, and goes on with those that train while it is shown."""

    runs_changed = Signal()  # other runs, or other names or states of them
    grew = Signal()  # more points

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.runs: list[OverlaidRun] = []
        self.metrics: tuple[str, ...] = ()
        self.weight = 0.0  # of the smoothing that will be asked for first
        self.version = 0
        self._is_reading = False
        self._must_read_again = False
        self._timer = QTimer(self)
        self._timer.setInterval(READ_MS)
        self._timer.timeout.connect(self._read_on)

    @property
    def slots(self) -> dict[int, int]:
        """Run id -> slot."""
        return {overlaid.run.id: overlaid.slot for overlaid in self.runs}

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics that some overlaid run has."""
        return tuple(dict.fromkeys(name for overlaid in self.runs for name in overlaid.names))

    def set_shown(self, shown: bool) -> None:
        """Read on only while somebody looks."""
        if shown:
            self._timer.start()
            self._read()
        else:
            self._timer.stop()

    def choose(self, runs: Sequence[RunRecord]) -> None:
        """Overlay these runs; those that stay keep their style."""
        kept = {overlaid.run.id: overlaid for overlaid in self.runs}
        chosen: list[OverlaidRun] = []
        taken = {kept[run.id].slot for run in runs if run.id in kept}
        for run in runs:
            overlaid = kept.get(run.id)
            if overlaid is None:
                overlaid = OverlaidRun(run, free_slot(taken), RunSeries(run.id), "")
                taken.add(overlaid.slot)
            overlaid.run = run
            chosen.append(overlaid)
        self.runs = sorted(chosen, key=lambda overlaid: overlaid.slot)
        names = Counter(run_title(run) for run in runs)
        for overlaid in self.runs:
            title = run_title(overlaid.run)
            overlaid.title = title if names[title] == 1 else f"{title} (run {overlaid.run.id})"
        self.version += 1
        self.runs_changed.emit()
        self._read()

    def update(self, runs: Sequence[RunRecord]) -> None:
        """Take newer records of the overlaid runs; one that is gone is not overlaid any more."""
        by_id = {run.id: run for run in runs}
        now = [by_id[overlaid.run.id] for overlaid in self.runs if overlaid.run.id in by_id]
        before = [overlaid.run for overlaid in self.runs]
        if len(now) != len(before) or any(
            (old.name, old.status, old.config) != (new.name, new.status, new.config)
            for old, new in zip(before, now, strict=True)
        ):
            self.choose(now)
            return
        for overlaid, run in zip(self.runs, now, strict=True):
            overlaid.run = run
            if run.steps_done < overlaid.series.newest_step:  # resumed from an earlier step
                overlaid.series = RunSeries(run.id)

    def want(self, metrics: Sequence[str]) -> None:
        """Read these metrics from now on."""
        self.metrics = tuple(metrics)
        self._read()

    # --- inside

    def _read_on(self) -> None:
        if any(overlaid.run.status.is_active or not overlaid.names for overlaid in self.runs):
            self._read()

    def _read(self) -> None:
        if self._is_reading:
            self._must_read_again = True
            return
        wanted = [self._wanted(overlaid) for overlaid in self.runs]
        if wanted and self.metrics:
            self._is_reading, weight = True, self.weight
            self._workspace.read(
                lambda reader: [_read_part(reader, one, weight) for one in wanted], self._take, self._failed
            )

    def _wanted(self, overlaid: OverlaidRun) -> _Wanted:
        series = overlaid.series
        after = {name: series.series(name).last_step for name in (*self.metrics, "step_time")}
        return _Wanted(overlaid.run.id, after, series.newest_step)

    def _failed(self, failure: TaskFailure) -> None:
        self._is_reading = self._must_read_again = False
        self._workspace.problem.emit(failure.message, failure.traceback)

    def _take(self, parts: list[_Part]) -> None:
        self._is_reading = False
        by_id = {overlaid.run.id: overlaid for overlaid in self.runs}
        grew = False
        for part in parts:
            overlaid = by_id.get(part.run_id)
            if overlaid is None:
                continue
            more = bool(len(part.totals.steps)) or any(len(points.steps) for points in part.points)
            if part.whole is not None and not overlaid.series.newest_step:
                overlaid.series = part.whole
            elif more:
                overlaid.series.absorb(part.points, part.totals)
            grew = grew or more or overlaid.names != part.names
            overlaid.names = part.names
        if grew:
            self.version += 1
            self.grew.emit()
        if self._must_read_again:
            self._must_read_again = False
            self._read()


def _read_part(reader: StoreReader, wanted: _Wanted, weight: float) -> _Part:
    points = tuple(
        reader.points(wanted.run_id, name, after if after >= 0 else None) for name, after in wanted.after.items()
    )
    points = tuple(some for some in points if len(some.steps))
    totals = reader.totals(wanted.run_id, wanted.after_step or None)
    whole = None
    if not wanted.after_step:
        totals = totals if len(totals.steps) else _steps_of(points)
        whole = RunSeries(wanted.run_id)
        whole.absorb(points, totals)
        whole.smooth_ahead(weight)
    return _Part(wanted.run_id, points, totals, reader.series_names(wanted.run_id), whole)


def _steps_of(points: Sequence[SeriesPoints]) -> StepTotals:
    """The steps of a run that was recorded without samples: it lies on the axis of steps only."""
    steps = np.unique(np.concatenate([curve.steps for curve in points])) if points else np.empty(0, dtype=np.int64)
    steps = steps[steps > 0]
    zeros = np.zeros(len(steps), dtype=np.int64)
    counts = np.zeros((len(steps), 27), dtype=np.int64)
    return StepTotals(steps, steps, zeros.astype(np.float64), zeros, zeros, counts)
