"""What other settings would have made of the same samples: fields, progress, and two curves side by side."""

import numpy as np
from PySide6.QtWidgets import QHBoxLayout, QProgressBar

from grpo_gui.store.records import Float64Array
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui import theme
from grpo_gui.ui.formatting import count, number, percent
from grpo_gui.ui.models.what_if_job import WhatIfJob, WhatIfResult, own_settings
from grpo_gui.ui.plot_style import pen
from grpo_gui.ui.plots.drawing import extent
from grpo_gui.ui.plots.plot_area import PlotArea
from grpo_gui.ui.plots.shapes import CurveItem
from grpo_gui.ui.plots.shared_axis import SharedAxis
from grpo_gui.ui.plots.smoothing import smooth
from grpo_gui.ui.plots.ticks import linear_ticks, padded, value_range
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.choice_box import ChoiceBox
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.widgets.legend import LegendEntry
from grpo_gui.ui.widgets.what_if_fields import WhatIfFields
from grpo_gui.ui.workspace import Workspace

CURVES: tuple[tuple[str, str], ...] = (
    ("dead_groups", "Share of groups with equal rewards"),
    ("reward", "Reward"),
    ("reward_std", "Spread of the rewards"),
    ("advantage_std", "Spread of the advantages"),
    ("clip_low", "Share of tokens clipped low"),
    ("clip_high", "Share of tokens clipped high"),
)
_SHARES = frozenset({"dead_groups", "clip_low", "clip_high"})
_WEIGHT = 0.88
_PLOT_HEIGHT = 170
_LEAD = (
    "Recomputed from the stored samples. It is no other training: the answers stay the same, only what would have been "
    "made of them changes."
)


class WhatIfCard(Card):
    """One computation at a time for the selected run."""

    def __init__(self, workspace: Workspace, axis: SharedAxis) -> None:
        super().__init__("What if")
        self._workspace, self._axis = workspace, axis
        self._config: TrainConfig | None = None
        self.job = WhatIfJob(workspace)
        self.result: WhatIfResult | None = None
        self.fields = WhatIfFields()
        self.go = button("Recompute")
        self.cancel = button("Cancel")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.curve = ChoiceBox()
        for value, text in CURVES:
            self.curve.addItem(text, value)
        self.curve.setAccessibleName("Curve that is shown")
        self.problem = label("", "error", wrap=True)
        self.sentence = label("", "", wrap=True)
        self.plot = PlotArea(axis)
        self._before, self._after = CurveItem(), CurveItem()
        for item in (self._before, self._after):
            self.plot.addItem(item, ignoreBounds=True)
        self._lay_out()
        self._connect()
        self._show_running(is_running=False)
        theme.follow(self, self._restyle)

    def show_run(self, config: TrainConfig | None) -> None:
        """Take another run: its own settings are filled in, nothing is recomputed yet."""
        self.job.cancel()
        self._config, self.result = config, None
        self.fields.show_run(own_settings(config))
        self.problem.hide()
        self._show_result()

    def start(self) -> None:
        """Recompute with what stands in the fields."""
        run = self._workspace.run
        if run is None or self.job.is_running:
            return
        try:
            settings = self.fields.settings()
        except ValueError as error:
            self._failed(str(error))
            return
        self.problem.hide()
        self._show_running(is_running=True)
        self.job.start(run.id, settings, own_settings(self._config), self._done, self._failed)

    # --- inside

    def _done(self, result: WhatIfResult | None) -> None:
        self._show_running(is_running=False)
        run = self._workspace.run
        if result is not None and run is not None and result.run_id == run.id:
            self.result = result
            self._show_result()

    def _failed(self, sentence: str) -> None:
        self._show_running(is_running=False)
        self.problem.setText(sentence)
        self.problem.show()

    def _show_running(self, *, is_running: bool) -> None:
        self.go.setEnabled(not is_running)
        self.cancel.setVisible(is_running)
        self.progress.setVisible(is_running)
        if is_running:
            self.progress.setRange(0, 0)

    def _progressed(self, done: int, total: int) -> None:
        self.progress.setRange(0, max(total, 1))
        self.progress.setValue(done)

    def _show_result(self) -> None:
        for widget in (self.plot, self.sentence, self.curve):
            widget.setVisible(self.result is not None)
        self.header.set_legend(_LEGEND if self.result is not None else ())
        if self.result is not None:
            self._draw()

    def _draw(self) -> None:
        if self.result is None:
            return
        name = str(self.curve.currentData())
        steps, after = self.result.changed.steps.astype(np.float64), getattr(self.result.changed, name)
        before_steps, before = _as_it_was(self.result, name)
        self.sentence.setText(_sentence(self.curve.currentText(), name, before, after))
        scale = 100.0 if name in _SHARES else 1.0
        smoothed = [smooth(values, _WEIGHT) * scale if len(values) else values for values in (before, after)]
        table, kind = self._axis.run.table, self._axis.kind
        self._before.set_points(table.to_axis(kind, before_steps), smoothed[0])
        self._after.set_points(table.to_axis(kind, steps), smoothed[1])
        spans = [span for values in smoothed if (span := extent(values)) is not None]
        low, high = (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else (0.0, 1.0)
        bounds = value_range(low, high, max_ticks=self.plot.max_y_ticks())
        suffix = " %" if name in _SHARES else ""
        ticks = [(place, text + suffix) for place, text in linear_ticks(*bounds, self.plot.max_y_ticks())]
        self.plot.apply_x_range()
        self.plot.apply_y_range(padded(bounds, self.plot.label_pad()), ticks)

    def _restyle(self) -> None:
        self.plot.restyle()
        self._before.set_pen(pen("blue"))
        self._after.set_pen(pen("second_run", dash="dash"))

    def _connect(self) -> None:
        self.go.clicked.connect(self.start)
        self.fields.entered.connect(self.start)
        self.cancel.clicked.connect(self.job.cancel)
        self.job.progressed.connect(self._progressed)
        self.curve.currentIndexChanged.connect(self._draw)
        self._axis.range_changed.connect(self._draw)
        self._axis.range_grown.connect(self._draw)

    def _lay_out(self) -> None:
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.go)
        foot.addWidget(self.cancel)
        foot.addWidget(self.progress, 1)
        foot.addStretch(0)
        self.problem.hide()
        self.plot.setFixedHeight(theme.px(_PLOT_HEIGHT))
        self.body.setSpacing(8)
        self.body.addWidget(label(_LEAD, "label", wrap=True))
        self.body.addWidget(self.fields)
        self.body.addLayout(foot)
        for widget in (self.problem, self.curve, self.plot, self.sentence):
            self.body.addWidget(widget)
        self.body.addStretch(1)


_LEGEND = (LegendEntry("as it was", "blue"), LegendEntry("recomputed", "second_run", "dash"))


def _as_it_was(result: WhatIfResult, name: str) -> tuple[Float64Array, Float64Array]:
    recorded = result.recorded.get(name)
    if recorded is not None and len(recorded.steps):
        return recorded.steps.astype(np.float64), recorded.values
    return result.as_it_was.steps.astype(np.float64), getattr(result.as_it_was, name)


def _sentence(title: str, name: str, before: Float64Array, after: Float64Array) -> str:
    if not np.isfinite(after).any():
        return f"{title}: the samples of this run do not hold what this needs."
    words = percent if name in _SHARES else number
    old, new = (float(np.nanmean(values)) if np.isfinite(values).any() else None for values in (before, after))
    steps = count(int(np.isfinite(after).sum()))
    return f"{title}: {words(new)} in place of {words(old)}, mean of {steps} steps; recomputed, not trained."
