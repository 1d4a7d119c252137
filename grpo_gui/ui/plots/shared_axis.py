"""The one x axis of all plots: what it counts, the shown range, following, and the crosshair."""

import numpy as np
from PySide6.QtCore import QObject, Signal

from grpo_gui.ui.models.finding_mark import FindingMark
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.models.step_table import AxisKind
from grpo_gui.ui.plots.ticks import Range, follow_range

_MIN_STEPS = 4.0  # zooming in ends here


class SharedAxis(QObject):
    """Range and crosshair of the x axis; every plot draws by it and reports the mouse to it.

    While `following`, the range is the whole run and grows with it; zooming or panning ends that.
    """

    range_changed = Signal()
    range_grown = Signal()
    cursor_changed = Signal()
    mark_changed = Signal()
    following_changed = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.run = RunSeries(0)
        self.kind = AxisKind.STEP
        self.following = True
        self.range: Range = follow_range(0)
        self.cursor_step: int | None = None
        self.marked_step: int | None = None  # of the group that is held
        self.findings: tuple[FindingMark, ...] = ()  # open ones, drawn by every plot

    def set_run(self, run: RunSeries) -> None:
        """Show another run from its beginning."""
        self.run = run
        self.set_cursor(None)
        self.mark(None)
        self.follow()

    def set_kind(self, kind: AxisKind) -> None:
        """Count steps, samples or seconds; the same steps stay in view."""
        steps = self.step_range()
        self.kind = kind
        if self.following:
            self.refresh()
        else:
            low, high = self.run.table.to_axis(kind, np.array(steps))
            self._set_range((float(low), float(high)))
        self.range_changed.emit()

    def refresh(self) -> None:
        """Grow the range with the run while following; call when points were added.

        `range_grown` is told, not `range_changed`: a plot takes the longer range with the new points, in one painting.
        """
        wanted = follow_range(self.run.table.end(self.kind))
        if self.following and wanted != self.range:
            self.range = wanted
            self.range_grown.emit()

    def follow(self) -> None:
        """Show the whole run and go on with it."""
        self._set_following(True)
        self._set_range(follow_range(self.run.table.end(self.kind)))

    def zoom(self, factor: float, center: float) -> None:
        """Multiply the span by `factor` around the place `center`."""
        low, high = self.range
        end = max(self.run.table.end(self.kind), 1e-9)
        smallest = _MIN_STEPS * end / max(self.run.newest_step, 1)
        span = min(max((high - low) * factor, smallest), 1.5 * follow_range(end)[1])
        share = (center - low) / (high - low)
        self._set_following(False)
        self._set_range(self._held((center - share * span, center + (1 - share) * span)))

    def pan(self, distance: float) -> None:
        """Move the range by `distance` to the right."""
        self._set_following(False)
        self._set_range(self._held((self.range[0] + distance, self.range[1] + distance)))

    def step_range(self) -> Range:
        """The shown range in steps."""
        low, high = self.run.table.to_steps(self.kind, np.array(self.range))
        return float(low), float(high)

    def place(self, step: float) -> float:
        """The place of a step on the axis."""
        return float(self.run.table.to_axis(self.kind, np.array([step], dtype=np.float64))[0])

    def step_at(self, place: float) -> int | None:
        """The step nearest to a place, None before the first step."""
        if not self.run.newest_step:
            return None
        step = round(float(self.run.table.to_steps(self.kind, np.array([place]))[0]))
        return min(max(step, 1), self.run.newest_step)

    def set_cursor(self, step: int | None) -> None:
        """Move the crosshair of all plots to a step, or take it away."""
        if step != self.cursor_step:
            self.cursor_step = step
            self.cursor_changed.emit()

    def mark(self, step: int | None) -> None:
        """Mark the step of the group that is held, or no step; the range moves when the step is out of view."""
        self.marked_step = step
        if step is not None and not self.range[0] <= self.place(step) <= self.range[1]:
            self.pan(self.place(step) - sum(self.range) / 2)
        self.mark_changed.emit()

    def move_cursor(self, steps: int) -> None:
        """Move the crosshair by some steps; it begins at the newest."""
        start = self.cursor_step if self.cursor_step is not None else self.run.newest_step
        if self.run.newest_step:
            self.set_cursor(min(max(start + steps, 1), self.run.newest_step))

    def _held(self, wanted: Range) -> Range:
        """Keep the range from leaving the run altogether: at least half of it stays over points."""
        low, high = wanted
        span, end = high - low, self.run.table.end(self.kind)
        low = min(max(low, min(0.0, -0.02 * span)), max(end - 0.5 * span, 0.0))
        return low, low + span

    def _set_range(self, wanted: Range) -> None:
        if wanted != self.range:
            self.range = wanted
            self.range_changed.emit()

    def _set_following(self, following: bool) -> None:
        if following != self.following:
            self.following = following
            self.following_changed.emit(following)
