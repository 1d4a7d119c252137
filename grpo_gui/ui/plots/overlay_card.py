"""One metric of several runs in one plot: all values in the header, and a note where they measure differently."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPoint, Signal

from grpo_gui.grpo.definitions import definition_of
from grpo_gui.ui import theme
from grpo_gui.ui.formatting import NOTHING, significant
from grpo_gui.ui.models.run_overlay import OverlaidRun
from grpo_gui.ui.plots.drawing import Drawing
from grpo_gui.ui.plots.layers import Extent, Layer, joined
from grpo_gui.ui.plots.overlaid_axis import OverlaidAxis
from grpo_gui.ui.plots.overlay_layers import SeedBandLayer, Strand, is_sparse
from grpo_gui.ui.plots.plot_area import PlotArea
from grpo_gui.ui.plots.plot_menu import PlotMenu
from grpo_gui.ui.plots.reading import trend
from grpo_gui.ui.plots.ticks import linear_ticks, log_ticks, padded, value_range
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import ElidedLabel
from grpo_gui.ui.widgets.legend import ValueRows

LOG_METRICS = frozenset({"kl", "kl/max"})
_LEAST_HEIGHT = 104
_SHORT = 14  # letters of a name where the whole one has no room


@dataclass(frozen=True, slots=True)
class _Drawn:
    strand: Strand
    layer: Layer


class OverlayCard(Card):
    """`redraw` brings it up to date; it draws nothing on its own."""

    step_clicked = Signal(int)
    hide_asked = Signal()
    stale = Signal()

    def __init__(self, metric: str, axis: OverlaidAxis) -> None:
        definition = definition_of(metric)
        super().__init__(definition.label, padding=8)
        self.key, self.title = metric, definition.label
        self.is_log = metric in LOG_METRICS
        self.weight = 0.0
        self._axis = axis
        self._drawn: list[_Drawn] = []
        self.area = PlotArea(axis)
        self.note = ElidedLabel("", "warn")
        self.note.hide()
        self.menu = PlotMenu(self, self.is_log)
        self.menu.attach(self.area)
        self.values_below = ValueRows()
        self.body.addWidget(self.values_below)
        self.body.addWidget(self.note)
        self.body.addWidget(self.area, 1)
        self.header.title.setToolTip(definition.tooltip)
        self.setMinimumHeight(theme.px(_LEAST_HEIGHT))
        self.area.step_clicked.connect(self.step_clicked)
        self.area.menu_asked.connect(self._open_menu)
        self.menu.log_changed.connect(self._set_log)
        self.menu.hide_asked.connect(self.hide_asked)
        theme.follow(self, self._restyle)

    # --- drawing

    def set_strands(self, strands: Sequence[Strand]) -> None:
        """Draw these lines from the next redraw on."""
        for drawn in self._drawn:
            for item in drawn.layer.items():
                self.area.removeItem(item)
        self._drawn = [_Drawn(strand, strand.layer(self.key, len(strands))) for strand in strands]
        for drawn in self._drawn:
            for item in drawn.layer.items():
                self.area.addItem(item, ignoreBounds=True)
            drawn.layer.restyle()

    def redraw(self) -> None:
        """Draw the visible part of all runs and bring the header up to date."""
        self.area.take_growth()
        extents = [drawn.layer.draw(self._drawing(drawn.strand.members[0])) for drawn in self._drawn]
        self._scale(joined(extents))
        self._show_note()
        self.update_header()

    def update_header(self) -> None:
        """Show the values under the crosshair, or the newest ones; shorter names where there is little room."""
        values = [self._value(drawn) for drawn in self._drawn]
        for cut in (None, _SHORT, 0):
            entries = [
                drawn.strand.entry(_labelled(drawn.strand.title, value, cut))
                for drawn, value in zip(self._drawn, values, strict=True)
            ]
            if tuple(entries) != self.header.legend.entries:
                self.header.set_legend(entries)
            if not self.header.legend.isHidden():
                self.values_below.show_entries(())
                return
        self.values_below.show_entries(self.header.legend.entries)

    def values(self) -> dict[str, str]:
        """The numbers of the header by the title of the run."""
        return {drawn.strand.title: self._value(drawn) for drawn in self._drawn}

    def definitions(self) -> dict[str, list[str]]:
        """The definition ids of the drawn curves, each with the titles of its runs."""
        found: dict[str, list[str]] = {}
        for drawn in self._drawn:
            for member in drawn.strand.members:
                series = member.series.series(self.key)
                if len(series) and series.definition_id:
                    found.setdefault(series.definition_id, []).append(member.title)
        return found

    def summary(self) -> str:
        """The plot in words: Reward: a 0.90, rising; b 0.61, falling."""
        parts = []
        for drawn in self._drawn:
            series = drawn.strand.members[0].series.series(self.key)
            words = f"{self._value(drawn)}, {trend(series.values)}" if len(series) else "no points"
            parts.append(f"{drawn.strand.title} {words}")
        return f"{self.title}: " + ("; ".join(parts) or "no runs")

    def _drawing(self, member: OverlaidRun) -> Drawing:
        weight = 0.0 if is_sparse(self.key) else self.weight
        return Drawing(member.series, self._axis, self.area.plot_width(), weight, self.is_log, 1.0)

    def _value(self, drawn: _Drawn) -> str:
        member = drawn.strand.members[0]
        if isinstance(drawn.layer, SeedBandLayer):
            return self._band_value(drawn.layer)
        series = member.series.series(self.key)
        if not len(series):
            return NOTHING
        if self._axis.cursor_step is None:
            return significant(series.last_value if is_sparse(self.key) else series.last_smoothed(self.weight))
        step = self._axis.steps_at_cursor(member.series)
        found = None if step is None else series.nearest(step)
        if found is None or (not is_sparse(self.key) and abs(found[0] - (step or 0.0)) > 1):
            return NOTHING
        return significant(found[1])

    def _band_value(self, layer: SeedBandLayer) -> str:
        band = layer.drawn
        if not len(band.places):
            return NOTHING
        place = -1
        if self._axis.cursor_step is not None:
            at = self._axis.place(self._axis.cursor_step)
            if at > band.places[-1] * (1 + 1e-9):
                return NOTHING
            place = int(np.argmin(np.abs(band.places - at)))
        half = float(band.high[place] - band.mean[place])
        spread = "" if math.isnan(half) else f" \u00b1 {significant(half, 2)}"
        return significant(float(band.mean[place])) + spread

    def _scale(self, extent: Extent) -> None:
        ticks, pad = self.area.max_y_ticks(), self.area.label_pad()
        if extent is None:
            extent = (-1.0, 1.0) if self.is_log else (0.0, 1.0)
        shown = value_range(*extent, max_ticks=ticks)
        marks = log_ticks(*shown, ticks) if self.is_log else linear_ticks(*shown, ticks)
        self.area.apply_y_range(padded(shown, pad), marks)

    def _show_note(self) -> None:
        definitions = self.definitions()
        self.note.setVisible(len(definitions) > 1)
        if len(definitions) > 1:
            parts = [f"{', '.join(dict.fromkeys(titles))}: {name}" for name, titles in definitions.items()]
            self.note.setText(f"Not the same measure, so the levels cannot be compared \u2013 {'; '.join(parts)}")
            self.note.setToolTip("\n".join(parts))

    # --- the rest

    def _open_menu(self, position: QPoint) -> None:
        self.menu.open_at(position)

    def _set_log(self, log: bool) -> None:
        self.is_log = log
        self.stale.emit()

    def _restyle(self) -> None:
        self.area.restyle()
        self.note.setFont(theme.font(11))
        for drawn in self._drawn:
            drawn.layer.restyle()


def _labelled(title: str, value: str, cut: int | None) -> str:
    """The title, perhaps cut, before the value."""
    if cut is None or len(title) <= cut:
        return f"{title}  {value}"
    return f"{title[: cut - 1].rstrip()}\u2026  {value}" if cut else value
