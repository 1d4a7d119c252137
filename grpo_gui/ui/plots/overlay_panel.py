"""The plots of the overlaid runs with their bar: axis, smoothing, seeds as bands, which plots, export."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from grpo_gui.grpo.definitions import definition_of
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.formatting import count
from grpo_gui.ui.models.run_overlay import RunOverlay
from grpo_gui.ui.models.seed_bands import groups_by_seed
from grpo_gui.ui.models.step_table import AxisKind
from grpo_gui.ui.plots.overlaid_axis import OverlaidAxis
from grpo_gui.ui.plots.overlay_card import OverlayCard
from grpo_gui.ui.plots.overlay_layers import Strand
from grpo_gui.ui.plots.plots_panel import SMOOTHINGS
from grpo_gui.ui.widgets.buttons import SegmentedControl, button
from grpo_gui.ui.widgets.labels import ElidedLabel, label

HELD_OUT = "eval/reward"
FIRST = (HELD_OUT, "reward", "kl")
_SMOOTHING = 0.88
_REDRAW_MS = 50  # one plot a tick
_HEADER_MS = 40
_TWO_COLUMNS = 700  # pixels from which more than two plots stand in two columns
_WITH_WORDS = 940
_WITH_NAMES = 690  # of the buttons at the right

_AXIS_TIPS = {
    AxisKind.STEP: "One step is one rollout with all its inner updates.",
    AxisKind.SAMPLES: "Completions sampled so far.",
    AxisKind.TOKENS: "Tokens of completions sampled so far.",
    AxisKind.TIME: "Seconds of training so far; pauses are left out.",
}


class OverlayPanel(QWidget):
    """Reads through a `RunOverlay`. `step_clicked` names a step of the longest run."""

    step_clicked = Signal(int)
    redrawn = Signal()

    def __init__(self, overlay: RunOverlay) -> None:
        super().__init__()
        self.overlay = overlay
        self.axis = OverlaidAxis()
        self.axis.setParent(self)
        self.cards: dict[str, OverlayCard] = {}
        self.smoothing = _SMOOTHING
        self._chosen: tuple[str, ...] | None = None  # None: the first ones that the runs have
        self._drawn: dict[str, object] = {}
        self._next = 0
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(tokens.GAP)
        self._lay_out()
        self._clock = self._timer(_REDRAW_MS, self.tick)
        self._header_timer = self._timer(_HEADER_MS, self._update_headers, single=True)
        self.axis.cursor_changed.connect(self._header_timer.start)
        overlay.runs_changed.connect(self._runs_changed)
        overlay.grew.connect(self._grew)
        overlay.weight = self.smoothing
        overlay.want(FIRST)
        self._runs_changed()

    @property
    def shown(self) -> tuple[str, ...]:
        """The metrics that have a plot."""
        if self._chosen is not None:
            return self._chosen
        names = self.overlay.names
        first = HELD_OUT if HELD_OUT in names else "reward"
        return tuple(name for name in (first, "kl") if name in names)

    def show_metrics(self, metrics: Sequence[str]) -> None:
        """Show plots of these metrics."""
        self._chosen = tuple(metrics)
        self.overlay.want(tuple(dict.fromkeys((*FIRST, *metrics))))
        self._place()

    def strands(self) -> list[Strand]:
        """The lines of every plot."""
        by_id = {overlaid.run.id: overlaid for overlaid in self.overlay.runs}
        groups = groups_by_seed([overlaid.run for overlaid in self.overlay.runs]) if self.bands.isChecked() else []
        if not groups:
            return [Strand(one.title, one.style, (one,)) for one in self.overlay.runs]
        lines = []
        for group in groups:
            members = tuple(by_id[run.id] for run in group)
            title = members[0].title if len(members) == 1 else f"{group[0].name}, {len(members)} seeds"
            lines.append(Strand(title, members[0].style, members))
        return lines

    def draw_all(self) -> None:
        """Draw every plot now, for a picture or a test."""
        for metric, card in self.cards.items():
            self._drawn[metric] = self._version(card)
            card.redraw()

    def tick(self) -> None:
        """Draw the next plot that is stale and can be seen."""
        cards = list(self.cards.items())
        for offset in range(len(cards)):
            metric, card = cards[(self._next + offset) % len(cards)]
            version = self._version(card)
            if self._drawn.get(metric) != version and not card.visibleRegion().isEmpty():
                self._drawn[metric] = version
                card.redraw()
                card.setAccessibleDescription(card.summary())
                self._next = self._next + offset + 1
                self.redrawn.emit()
                return

    # --- layout

    def _lay_out(self) -> None:
        bar = self._make_bar()
        self.page = QWidget()
        self.page.setProperty("look", "page")
        self.page.setLayout(self._grid)
        scroll = QScrollArea()
        scroll.setWidget(self.page)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hint = label("", "lead", wrap=True)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages = QStackedWidget()
        self._pages.addWidget(scroll)
        self._pages.addWidget(self.hint)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(tokens.GAP)
        column.addLayout(bar)
        column.addWidget(self._pages, 1)
        self.setMinimumSize(theme.px(320), theme.px(200))

    def _make_bar(self) -> QHBoxLayout:
        self.axis_choice = SegmentedControl([(kind.value, kind.value) for kind in _AXIS_TIPS], "step", "Axis")
        for kind, tip in _AXIS_TIPS.items():
            self.axis_choice.set_tooltip(kind.value, tip)
        self.axis_choice.changed.connect(lambda value: self.axis.set_kind(AxisKind(value)))
        self.smoothing_box = self._smoothing_choice()
        self.bands = button("Seeds as bands", "mix", tooltip=_BANDS)
        self.bands.setCheckable(True)
        self.bands.toggled.connect(self._runs_changed)
        self.place = ElidedLabel(look="small")
        self.follow = button("All", "follow", tooltip="Show the runs from begin to end (Home).")
        self.follow.clicked.connect(self.axis.follow)
        self.plots = button("Plots", "plots", tooltip="Choose which plots are shown.")
        self._menu = QMenu(self.plots)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.plots.setMenu(self._menu)
        self.export = button("Export", "export", tooltip="Write curves, plots, a report or the whole run to files.")
        self.export_menu = QMenu(self.export)
        self.export.setMenu(self.export_menu)
        self._words = (label("Compare", "cardtitle"), label("Axis", "label"), label("Smoothing", "label"))
        bar = QHBoxLayout()
        bar.setSpacing(tokens.GAP)
        title, axis, smoothing = self._words
        for widget in (title, axis, self.axis_choice, smoothing, self.smoothing_box, self.bands):
            bar.addWidget(widget)
        bar.addWidget(self.place, 1)
        for widget in (self.follow, self.plots, self.export):
            bar.addWidget(widget)
        return bar

    def _smoothing_choice(self) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName("Smoothing")
        box.setToolTip(
            "Weight of the past in the moving average over the whole run. Held-out values are never smoothed."
        )
        for weight in SMOOTHINGS:
            box.addItem(f"{weight:.2f}" if weight else "off", weight)
        box.setCurrentIndex(SMOOTHINGS.index(self.smoothing))
        box.currentIndexChanged.connect(self._smoothing_changed)
        return box

    def _place(self) -> None:
        """Make the cards that are wanted and put them into one or two columns."""
        shown = self.shown
        for metric in [name for name in self.cards if name not in shown]:
            card = self.cards.pop(metric)
            self._grid.removeWidget(card)
            card.hide()
            card.deleteLater()
            self._drawn.pop(metric, None)
        strands = self.strands()
        for metric in shown:
            if metric not in self.cards:
                self.cards[metric] = self._make_card(metric)
                self.cards[metric].set_strands(strands)
        columns = 2 if len(shown) > 2 and self.width() >= theme.px(_TWO_COLUMNS) else 1
        for place, metric in enumerate(shown):
            self._grid.removeWidget(self.cards[metric])
            alone = columns == 2 and place == 0 and len(shown) % 2 == 1
            row, column = divmod(place + (columns == 2 and len(shown) % 2 == 1 and place > 0), columns)
            self._grid.addWidget(self.cards[metric], row, column, 1, 2 if alone else 1)
        self._tell_why_empty()

    def _tell_why_empty(self) -> None:
        if not self.overlay.runs:
            self.hint.setText("Tick runs in the list above to lay their curves over each other.")
        elif not self.shown:
            self.hint.setText("These runs have no curves yet." if self._chosen is None else "Choose plots above.")
        self._pages.setCurrentIndex(0 if self.overlay.runs and self.shown else 1)

    def _make_card(self, metric: str) -> OverlayCard:
        card = OverlayCard(metric, self.axis)
        card.weight = self.smoothing
        card.step_clicked.connect(self.step_clicked)
        card.hide_asked.connect(lambda: self.show_metrics([name for name in self.shown if name != metric]))
        card.stale.connect(lambda: self._drawn.pop(metric, None))
        return card

    def _fill_menu(self) -> None:
        self._menu.clear()
        known = [name for name in dict.fromkeys((*self.shown, *self.overlay.names)) if not name.startswith("system/")]
        for metric in known:
            action = self._menu.addAction(definition_of(metric).label)
            action.setCheckable(True)
            action.setChecked(metric in self.shown)
            action.setToolTip(definition_of(metric).tooltip)
            action.toggled.connect(lambda checked, name=metric: self._toggle(name, checked))

    def _toggle(self, metric: str, shown: bool) -> None:
        rest = [name for name in self.shown if name != metric]
        self.show_metrics([*rest, metric] if shown else rest)

    # --- changes

    def _runs_changed(self) -> None:
        self.axis.use_runs([overlaid.series for overlaid in self.overlay.runs])
        strands = self.strands()
        for card in self.cards.values():
            card.set_strands(strands)
        self._drawn.clear()
        self._place()

    def _grew(self) -> None:
        self.axis.use_runs([overlaid.series for overlaid in self.overlay.runs])
        if set(self.shown) != set(self.cards):
            self._place()

    def _smoothing_changed(self, place: int) -> None:
        self.smoothing = self.overlay.weight = SMOOTHINGS[place]
        for card in self.cards.values():
            card.weight = self.smoothing

    def _version(self, card: OverlayCard) -> object:
        return self.overlay.version, self.axis.range, self.axis.kind, self.smoothing, card.size().toTuple()

    def _update_headers(self) -> None:
        step = self.axis.cursor_step
        self.place.setText("" if step is None else self._place_text(step))
        for card in self.cards.values():
            card.update_header()

    def _place_text(self, step: int) -> str:
        kind = self.axis.kind
        place = self.axis.place(step)
        if kind is AxisKind.STEP:
            return f"step {count(step)}"
        return f"{place:.1f} s" if kind is AxisKind.TIME else f"{count(round(place))} {kind.value}"

    def _timer(self, interval_ms: int, function: Callable[[], None], *, single: bool = False) -> QTimer:
        timer = QTimer(self)
        timer.setInterval(interval_ms)
        timer.setSingleShot(single)
        timer.timeout.connect(function)
        return timer

    def showEvent(self, event: QShowEvent) -> None:
        """Draw and read while it can be seen."""
        super().showEvent(event)
        self.overlay.set_shown(True)
        self._clock.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Rest while it cannot be seen."""
        super().hideEvent(event)
        self.overlay.set_shown(False)
        self._clock.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Change between one and two columns; drop words where the bar is narrow."""
        super().resizeEvent(event)
        wide = self.width() >= theme.px(_WITH_WORDS)
        for word in self._words:
            word.setVisible(wide)
        self.bands.setText("Seeds as bands" if wide else "Seeds")
        with_names = self.width() >= theme.px(_WITH_NAMES)
        for widget, text in ((self.plots, "Plots"), (self.export, "Export"), (self.follow, "All")):
            _name(widget, text if with_names else "")
        self._place()


_BANDS = (
    "Draw runs that differ only in their seed as their mean with a 95 % interval (Student's t), where all of them have "
    "values; each run is smoothed before."
)


def _name(widget: QPushButton, text: str) -> None:
    widget.setAccessibleName(widget.accessibleName() or widget.text())
    widget.setText(text)
