"""Where the snapshots lie on the run's reward curve; a click on a mark selects its snapshot."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

from grpo_gui.events import Event, RunStarted
from grpo_gui.grpo.definitions import definition_of
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import RunRecord, SeriesPoints, StepTotals
from grpo_gui.ui import theme
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.plots.drawing import Drawing
from grpo_gui.ui.plots.layers import LineLayer
from grpo_gui.ui.plots.plot_area import PlotArea
from grpo_gui.ui.plots.shared_axis import SharedAxis
from grpo_gui.ui.plots.snapshot_marks import Mark, SnapshotMarks
from grpo_gui.ui.plots.ticks import linear_ticks, padded, value_range
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.legend import LegendEntry
from grpo_gui.ui.workspace import Workspace

METRIC = "reward"
SMOOTHING = 0.88
_REFRESH_MS = 1000
_REDRAW_MS = 50
_CLICK_REACH = 14  # pixels

Part = tuple[int, SeriesPoints, StepTotals]


class SnapshotCurve(Card):
    """Reads only the reward of the selected run; `step_chosen` names the snapshot that was clicked."""

    step_chosen = Signal(int)

    def __init__(self, workspace: Workspace) -> None:
        super().__init__("Where they lie", padding=8)
        self._workspace = workspace
        self.axis = SharedAxis(self)
        self.area = PlotArea(self.axis)
        self._layer = LineLayer(METRIC, "mean", METRIC)
        for item in self._layer.items():
            self.area.addItem(item, ignoreBounds=True)
        self.marks = SnapshotMarks(self.area, METRIC)
        self.body.addWidget(self.area, 1)
        self.header.set_hint("click a mark to select it")
        self.header.set_legend([LegendEntry(METRIC, "mean")])
        self.header.title.setToolTip(definition_of(METRIC).tooltip)
        self.area.setMinimumHeight(theme.px(110))
        self.area.step_clicked.connect(self._clicked)
        self.axis.range_changed.connect(self._redraw_soon)
        self._reading = QTimer(self)
        self._reading.setInterval(_REFRESH_MS)
        self._reading.timeout.connect(self._read_on)
        self._redraw = QTimer(self)
        self._redraw.setSingleShot(True)
        self._redraw.setInterval(_REDRAW_MS)
        self._redraw.timeout.connect(self.redraw)
        workspace.run_selected.connect(self._select)
        workspace.events.connect(self._take_events)
        theme.follow(self, self._restyle)
        self._select(workspace.run)

    def set_marks(self, marks: Sequence[Mark], chosen: int | None) -> None:
        """Mark other snapshots."""
        self.marks.set_marks(marks, chosen)
        self._redraw_soon()

    def redraw(self) -> None:
        """Draw curve and marks now."""
        self.area.take_growth()
        drawing = Drawing(self.axis.run, self.axis, self.area.plot_width(), SMOOTHING, log=False, scale=1.0)
        extent = self._layer.draw(drawing) or (0.0, 1.0)
        ticks = self.area.max_y_ticks()
        shown = value_range(*extent, max_ticks=ticks)
        self.area.apply_y_range(padded(shown, self.area.label_pad()), linear_ticks(*shown, ticks))
        self.marks.draw(drawing)
        count = len(self.axis.run.series(METRIC))
        self.area.setAccessibleDescription(f"Reward over {count} steps with the places of the snapshots")

    def showEvent(self, event: QShowEvent) -> None:
        """Read on while it can be seen."""
        super().showEvent(event)
        self._reading.start()
        self._read_on()

    def hideEvent(self, event: QHideEvent) -> None:
        """Rest while it cannot be seen."""
        super().hideEvent(event)
        self._reading.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw for the new width."""
        super().resizeEvent(event)
        self._redraw_soon()

    def _redraw_soon(self) -> None:
        if not self._redraw.isActive():
            self._redraw.start()

    def _restyle(self) -> None:
        self.area.restyle()
        self._layer.restyle()
        self.marks.restyle()
        self._redraw_soon()

    def _select(self, run: RunRecord | None) -> None:
        if run is None or run.id != self.axis.run.run_id:
            self.axis.set_run(RunSeries(run.id if run is not None else 0))
            self._redraw_soon()
        self._read_on()

    def _take_events(self, events: list[Event]) -> None:
        known = self.axis.run.newest_step
        if any(isinstance(event, RunStarted) and event.step < known for event in events):
            self.axis.set_run(RunSeries(self.axis.run.run_id))  # it goes on from an earlier step

    def _read_on(self) -> None:
        run_id = self.axis.run.run_id
        if run_id and self.isVisible():
            after = self.axis.run.newest_step or None
            self._workspace.read(partial(_read, run_id=run_id, after=after), self._take, key="snapshots.curve")

    def _take(self, part: Part) -> None:
        run_id, points, totals = part
        if run_id != self.axis.run.run_id:
            return
        if len(totals.steps):
            self.axis.run.absorb([points], totals)
            self.axis.refresh()
            self._redraw_soon()

    def _clicked(self, step: int) -> None:
        low, high = self.axis.step_range()
        reach = max(1.0, theme.px(_CLICK_REACH) * (high - low) / self.area.plot_width())
        near = self.marks.nearest(step, reach)
        if near is not None:
            self.step_chosen.emit(near)


def _read(reader: StoreReader, run_id: int, after: int | None) -> Part:
    return run_id, reader.points(run_id, METRIC, after), reader.totals(run_id, after)
