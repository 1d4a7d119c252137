"""A plot in its card: header with title, value, hint and legend; scale, menu and summary."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal

from grpo_gui.grpo.definitions import definition_of
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui import theme
from grpo_gui.ui.plots.drawing import Drawing
from grpo_gui.ui.plots.finding_marks import FindingMarks
from grpo_gui.ui.plots.layers import Extent, Layer, joined
from grpo_gui.ui.plots.marks import ChangeMarks, GapMarks
from grpo_gui.ui.plots.past import SeamMarks
from grpo_gui.ui.plots.plot_area import PlotArea
from grpo_gui.ui.plots.plot_menu import PlotMenu
from grpo_gui.ui.plots.reading import Reading, trend
from grpo_gui.ui.plots.shared_axis import SharedAxis
from grpo_gui.ui.plots.specs import PlotSpec
from grpo_gui.ui.plots.ticks import linear_ticks, log_ticks, padded, value_range
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.widgets.legend import LegendEntry


class PlotCard(Card):
    """One metric's plot. `redraw` brings it up to date; it draws nothing on its own."""

    step_clicked = Signal(int)
    hide_asked = Signal()
    stale = Signal()  # must be drawn again although the run did not change

    def __init__(self, spec: PlotSpec, axis: SharedAxis) -> None:
        super().__init__(spec.title, padding=8)
        self.spec = spec
        self.key, self.title = spec.key, spec.title
        self.is_log = spec.log
        self._axis = axis
        self._config: TrainConfig | None = None
        self._weight = 0.0
        self._shows_replaced = False
        self._layers: list[Layer] = []
        self._layers_for: tuple[object, ...] = ()
        self.area = PlotArea(axis)
        self.area.step_clicked.connect(self.step_clicked)
        self.area.menu_asked.connect(self.open_menu)
        self._gaps = GapMarks(self.area)
        self._changes = ChangeMarks(self.area, named=spec.key == "reward")
        self._seams = SeamMarks(self.area, named=spec.key == "reward")
        self._findings = FindingMarks(self.area, named=spec.key == "reward")
        self.note = label("", "hint")
        self.note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.note.setParent(self.area)
        self.note.hide()
        self.body.addWidget(self.area, 1)
        self.menu = PlotMenu(self, spec.log)
        self.menu.log_changed.connect(self._set_log)
        self.menu.hide_asked.connect(self.hide_asked)
        self.menu.attach(self.area)
        for widget in (self.header.title, self.header.value):
            widget.setToolTip(f"{definition_of(spec.metric).tooltip}\n{spec.more}".strip())
        theme.follow(self, self._restyle)

    # --- drawing

    def set_config(self, config: TrainConfig | None) -> None:
        """Take the run's config: thresholds and notes depend on it."""
        self._config = config
        self._layers_for = ()
        self.note.setText(self.spec.note(config))
        self._place_note()

    def set_smoothing(self, weight: float) -> None:
        """Smooth with this weight from the next redraw on."""
        self._weight = weight

    def show_replaced(self, shown: bool) -> None:
        """Draw also steps that were superseded, from the next redraw on."""
        self._shows_replaced = shown

    def set_log(self, log: bool) -> None:
        """Show log10 of the values, or the values."""
        self.menu.log_action.setChecked(log)

    def redraw(self) -> None:
        """Draw the visible part of the run and bring the header up to date."""
        self._make_layers()
        self.area.take_growth()
        drawing = self._drawing()
        extents = [layer.draw(drawing) for layer in self._layers]
        self._scale(joined(extents))
        self._gaps.draw(drawing, self.spec.metrics or (self.spec.metric,))
        self._changes.draw(drawing)
        self._seams.draw(drawing)
        self._findings.draw(drawing)
        self.update_header()

    def update_header(self) -> None:
        """Show the values under the crosshair, or the newest ones."""
        step = self._axis.cursor_step
        reading = Reading(self._axis.run, self._config, step, self._weight)
        empty = not len(self._axis.run.names)
        self.header.set_value("" if empty else self.spec.headline(reading))
        self.header.set_hint("" if empty else self.spec.hint(reading))
        entries = tuple(self.spec.legend(reading) or self._legend())
        if entries != self.header.legend.entries:
            self.header.set_legend(entries)

    def drawn_points(self) -> tuple[int, int]:
        """How many points of the plot's metric are drawn, and how many the run has."""
        series = self._axis.run.series(self.spec.metric)
        low, high = self._axis.step_range()
        curve = series.curve(low, high, 2 * self.area.plot_width())
        return min(len(curve.steps), len(series)), len(series)

    def summary(self) -> str:
        """The plot in words: reward 0.90, rising, 143 points."""
        series = self._axis.run.series(self.spec.metric)
        if not len(series):
            return f"{self.title}: no points yet"
        return f"{self.title} {self.header.value.text()}, {trend(series.values)}, {len(series)} points"

    def _drawing(self) -> Drawing:
        run, columns = self._axis.run, self.area.plot_width()
        return Drawing(run, self._axis, columns, self._weight, self.is_log, self.spec.scale, self._shows_replaced)

    def _make_layers(self) -> None:
        wanted = (self._axis.run, len(self._axis.run.names), self._config)
        if wanted == self._layers_for:
            return
        self._layers_for = wanted
        for layer in self._layers:
            for item in layer.items():
                self.area.removeItem(item)
        self._layers = self.spec.layers(self._axis.run, self._config)
        for layer in self._layers:
            for item in layer.items():
                self.area.addItem(item, ignoreBounds=True)
            layer.restyle()

    def _scale(self, extent: Extent) -> None:
        ticks, pad = self.area.max_y_ticks(), self.area.label_pad()
        if extent is None:
            extent = (-1.0, 1.0) if self.is_log else (0.0, 1.0)
        if self.is_log:
            shown = value_range(*extent, max_ticks=ticks)
            self.area.apply_y_range(padded(shown, pad), log_ticks(*shown, ticks))
        else:
            shown = value_range(*extent, include=self.spec.include, max_ticks=ticks)
            marks = [(place, text + self.spec.suffix) for place, text in linear_ticks(*shown, ticks)]
            self.area.apply_y_range(padded(shown, pad), marks)

    def _legend(self) -> Sequence[LegendEntry]:
        entries = [entry for layer in self._layers for entry in layer.legend()]
        areas = [entry for entry in entries if entry.kind == "area"]
        entries = [entry for entry in entries if entry.kind != "area"] + areas
        if self._gaps.count:
            others = entries if len(entries) > 1 else []  # a threshold's name gives way
            entries = [LegendEntry(f"{self._gaps.count} not finite", "bad", "dot"), *others]
        return entries if len(entries) > 1 or (entries and entries[0].text) else []

    # --- the rest

    def open_menu(self, position: QPoint) -> None:
        """Open the plot's menu at a place on the screen."""
        self.menu.open_at(position)

    def _set_log(self, log: bool) -> None:
        self.is_log = log
        self.stale.emit()

    def _restyle(self) -> None:
        self.area.restyle()
        self._gaps.restyle()
        self._changes.restyle()
        self._seams.restyle()
        self._findings.restyle()
        for layer in self._layers:
            layer.restyle()
        self.note.setFont(theme.font(11))
        self._place_note()

    def _place_note(self) -> None:
        self.note.setVisible(bool(self.note.text()))
        if self.note.text():
            left = theme.px(48)
            self.note.setGeometry(left, theme.px(6), max(self.area.width() - left - 8, 0), theme.px(18))
