"""The plots of a run with their bar: axis, smoothing, number of points, following, and which plots are shown."""

import json
from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QAction, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from grpo_gui.training.config import TrainConfig
from grpo_gui.ui import theme
from grpo_gui.ui.formatting import count
from grpo_gui.ui.models.finding_mark import FindingMark
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.models.step_table import AxisKind
from grpo_gui.ui.plots.density_card import DensityCard
from grpo_gui.ui.plots.plot_card import PlotCard
from grpo_gui.ui.plots.plot_grid import ROWS, PlotGrid
from grpo_gui.ui.plots.redraw import Plot, RedrawClock
from grpo_gui.ui.plots.shared_axis import SharedAxis
from grpo_gui.ui.plots.specs import SPECS
from grpo_gui.ui.widgets.buttons import SegmentedControl, button
from grpo_gui.ui.widgets.labels import ElidedLabel, label

SMOOTHINGS = (0.0, 0.6, 0.75, 0.88, 0.94, 0.97, 0.99)
_DEFAULT_SMOOTHING = 0.88
_HEADER_MS = 40  # headers follow the mouse at 25 Hz
_BAR_WITH_WORDS = 720  # pixels
_WORDS_MS = 500  # the number of points and the summaries for screen readers

_AXIS_TIPS = {
    "step": "One step is one rollout with all its inner updates.",
    "samples": "Completions sampled so far.",
    "time": "Seconds of training so far; pauses are left out.",
}


class PlotsPanel(QWidget):
    """Ten plots on one axis. `step_clicked` names the step of a clicked point."""

    step_clicked = Signal(int)
    smoothing_changed = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("remembered.plots")
        self.axis = SharedAxis(self)
        curves = {spec.key: PlotCard(spec, self.axis) for spec in SPECS}
        self._reward = curves["reward"]
        self.cards: dict[str, Plot] = dict(curves)
        self.cards[DensityCard.key] = DensityCard(self.axis)
        self.grid = PlotGrid(self.cards)
        self.smoothing = _DEFAULT_SMOOTHING
        self.clock = RedrawClock(tuple(self.cards.values()), self._version, self)
        self._plot_actions: dict[str, QAction] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(self._make_bar())
        column.addWidget(self.grid, 1)
        self._header_timer = self._timer(_HEADER_MS, self._update_headers, single=True)
        self._words_timer = self._timer(_WORDS_MS, self.update_words)
        for key, card in self.cards.items():
            card.set_smoothing(self.smoothing)
            card.step_clicked.connect(self.step_clicked)
            card.hide_asked.connect(self._plot_actions[key].toggle)
        self.axis.cursor_changed.connect(self._header_timer.start)
        self.axis.following_changed.connect(self._following_changed)

    def set_run(self, run: RunSeries, config: TrainConfig | None) -> None:
        """Show the curves of another run from its beginning."""
        for card in self.cards.values():
            card.set_config(config)
        self.axis.set_run(run)

    def refresh(self) -> None:
        """The run has grown; the clock will draw it."""
        self.axis.refresh()

    def show_step(self, step: int | None) -> None:
        """Mark a step in every plot, moving the axis when it is out of view, or take the mark away."""
        self.axis.mark(step)

    def show_findings(self, marks: tuple[FindingMark, ...], card: QWidget | None) -> None:
        """Mark findings on the axis; `card` covers the lower rows, None gives them back to the plots."""
        self.axis.findings = marks
        self.grid.set_cover(card)

    def set_hidden(self, hidden: frozenset[str]) -> None:
        """Leave these plots out, by key."""
        for key, action in self._plot_actions.items():
            action.setChecked(key not in hidden)

    def set_smoothing(self, weight: float) -> None:
        """Choose one of `SMOOTHINGS`."""
        self._smoothing_box.setCurrentIndex(SMOOTHINGS.index(weight))

    # --- what is remembered

    def choices(self) -> str:
        """Axis, smoothing, hidden plots and plots on a log scale."""
        curves = {key: card for key, card in self.cards.items() if isinstance(card, PlotCard)}
        return json.dumps(
            {
                "axis": self.axis.kind.value,
                "smoothing": self.smoothing,
                "hidden": [key for key, action in self._plot_actions.items() if not action.isChecked()],
                "log": {key: card.is_log for key, card in curves.items() if card.is_log != card.spec.log},
            }
        )

    def use_choices(self, text: str) -> None:
        """Choose again what `choices` gave; what this version does not know is left out."""
        try:
            chosen = json.loads(text)
        except ValueError:
            return
        if not isinstance(chosen, dict):
            return
        if chosen.get("axis") in [kind.value for kind in AxisKind]:
            self.axis_choice.choose(chosen["axis"])
        if chosen.get("smoothing") in SMOOTHINGS:
            self.set_smoothing(chosen["smoothing"])
        self.set_hidden(frozenset(map(str, chosen.get("hidden", ()))))
        for key, is_log in dict(chosen.get("log", {})).items():
            card = self.cards.get(key)
            if isinstance(card, PlotCard) and card.menu.log_action.isCheckable():
                card.set_log(bool(is_log))

    # --- the bar

    def add_to_bar(self, widget: QWidget) -> None:
        """Put a button before the axis."""
        self._bar.insertWidget(0, widget)

    def _make_bar(self) -> QHBoxLayout:
        self.axis_choice = SegmentedControl([(kind, kind) for kind in _AXIS_TIPS], "step", "Axis")
        for value, tip in _AXIS_TIPS.items():
            self.axis_choice.set_tooltip(value, tip)
        self.axis_choice.changed.connect(lambda value: self.axis.set_kind(AxisKind(value)))
        self._smoothing_box = self._smoothing_choice()
        self.points = ElidedLabel(look="small")
        self.points.setToolTip("Points of the reward curve that are drawn, of those that the run has.")
        self.follow = button("Follow", "follow", tooltip="Show the whole run and go on with it (Home).")
        self.follow.setCheckable(True)
        self.follow.setChecked(True)
        self.follow.clicked.connect(self._follow_clicked)
        self._bar_labels = (label("Axis", "label"), label("Smoothing", "label"))
        self._bar = QHBoxLayout()
        self._bar.setSpacing(8)
        for widget in (self._bar_labels[0], self.axis_choice, self._bar_labels[1], self._smoothing_box):
            self._bar.addWidget(widget)
        self._bar.addWidget(self.points, 1)
        self._bar.addWidget(self.follow)
        self._bar.addWidget(self._plots_button())
        return self._bar

    def _smoothing_choice(self) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName("Smoothing")
        box.setToolTip(
            "Weight of the past in the moving average over the whole run, its empty start divided out. The raw values "
            "stay visible behind it."
        )
        for weight in SMOOTHINGS:
            box.addItem(f"{weight:.2f}" if weight else "off", weight)
        box.setCurrentIndex(SMOOTHINGS.index(self.smoothing))
        box.currentIndexChanged.connect(self._smoothing_changed)
        return box

    def _plots_button(self) -> QPushButton:
        plots = button("Plots", "plots", tooltip="Choose which plots are shown.")
        menu = QMenu(plots)
        for key in [key for _, cells in ROWS for key, _ in cells]:
            action = menu.addAction(self.cards[key].title)
            action.setCheckable(True)
            action.setChecked(True)
            action.toggled.connect(self._shown_changed)
            self._plot_actions[key] = action
        menu.addSeparator()
        self.replaced = menu.addAction("Superseded steps")
        self.replaced.setCheckable(True)
        self.replaced.setToolTip("Rewards of steps that were replaced when the run was resumed from an earlier one.")
        self.replaced.toggled.connect(self._show_replaced)
        plots.setMenu(menu)
        return plots

    def _smoothing_changed(self, place: int) -> None:
        self.smoothing = SMOOTHINGS[place]
        for card in self.cards.values():
            card.set_smoothing(self.smoothing)
        self.smoothing_changed.emit(self.smoothing)

    def _shown_changed(self) -> None:
        shown = {key for key, action in self._plot_actions.items() if action.isChecked()}
        self.grid.set_hidden(frozenset(self.cards) - shown)

    def _show_replaced(self, shown: bool) -> None:
        self._reward.show_replaced(shown)

    def _follow_clicked(self) -> None:
        self.follow.setChecked(True)
        self.axis.follow()

    def _following_changed(self, following: bool) -> None:
        self.follow.setChecked(following)

    # --- time

    def _version(self) -> object:
        axis = self.axis
        drawn = id(axis.run), axis.run.version, axis.range, axis.kind, self.smoothing, self.replaced.isChecked()
        return *drawn, axis.findings

    def _timer(self, interval_ms: int, function: Callable[[], None], *, single: bool = False) -> QTimer:
        timer = QTimer(self)
        timer.setInterval(interval_ms)
        timer.setSingleShot(single)
        timer.timeout.connect(function)
        return timer

    def _update_headers(self) -> None:
        step = self.axis.cursor_step
        if step is not None:
            self.points.setText(f"step {count(step)}")
        else:
            self.update_words()
        for card in self.cards.values():
            if card.isVisible():
                card.update_header()

    def update_words(self) -> None:
        """Bring the number of points and the summaries for screen readers up to date."""
        if self.axis.cursor_step is None:
            drawn, total = self._reward.drawn_points()
            self.points.setText(f"{count(drawn)} of {count(total)} points" if total else "")
        for card in self.cards.values():
            if card.isVisible() and card.accessibleDescription() != (words := card.summary()):
                card.setAccessibleDescription(words)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Drop the words of the bar where it is narrow."""
        super().resizeEvent(event)
        for words in self._bar_labels:
            words.setVisible(self.width() >= theme.px(_BAR_WITH_WORDS))

    def showEvent(self, event: QShowEvent) -> None:
        """Draw while it can be seen."""
        super().showEvent(event)
        self.clock.start()
        self._words_timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Rest while it cannot be seen."""
        super().hideEvent(event)
        self.clock.stop()
        self._words_timer.stop()
