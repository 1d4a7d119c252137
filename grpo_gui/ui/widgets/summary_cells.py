"""The three cells above the plots: is it learning, is it healthy, what does it produce."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from grpo_gui.grpo.definitions import definition_of
from grpo_gui.ui import icons, theme
from grpo_gui.ui.models.finding_words import health_cell, tooltip_of
from grpo_gui.ui.models.run_health import RunHealth
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.models.shown_step import ShownStep
from grpo_gui.ui.models.verdicts import Cell, drift, learning, output
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.fitting_label import FittingLabel
from grpo_gui.ui.widgets.labels import label, set_look, vline

_LEARNING_TIP = (
    f"{definition_of('eval/reward').tooltip}\nThe change is that of a line fitted to the last 50 steps; the range in "
    "brackets holds its true value in 95 of 100 cases, if the noise is alike at every point."
)
_OUTPUT_TIP = (
    "Completions of the newest step that are right, the mean number of different texts in a group, and completions "
    "that were cut off before an end token."
)
_LEARNING_ICONS = {"good": ("learning", "good"), "warn": ("falling", "warn")}
_ICONS = {"bad": ("error", "bad"), "warn": ("warning", "warn"), "plain": ("info", "text2"), "good": ("good", "good")}


class SummaryCells(QFrame):
    """One card of three cells, brought up to date by `refresh`."""

    details_asked = Signal()  # is it learning, and all else that is measured
    findings_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "card")
        self.learning = SummaryCell("Learning", "learning", _LEARNING_TIP, "Details")
        self.health = SummaryCell("Health", "health", "", "Show")
        self.output = SummaryCell("Output", "output", _OUTPUT_TIP)
        row = QHBoxLayout(self)
        row.setContentsMargins(1, 1, 1, 1)
        row.setSpacing(0)
        for place, cell in enumerate((self.learning, self.health, self.output)):
            if place:
                row.addWidget(vline())
            row.addWidget(cell, 1)
        self.learning.link.clicked.connect(self.details_asked)
        self.health.link.clicked.connect(self.findings_asked)

    def refresh(self, run: RunSeries, newest: ShownStep | None, health: RunHealth) -> None:
        """Say what the run's numbers say now."""
        self.learning.show_cell(learning(run))
        self.health.show_cell(health_cell(health, run))
        self.output.show_cell(output(newest, run.newest_step or 0))
        tip = tooltip_of(health.open) or definition_of("frac_reward_zero_std").tooltip
        self.health.setToolTip(f"{tip}\nNow: {drift(run)}." if run.newest_step else tip)


class SummaryCell(QWidget):
    """Title with an icon and perhaps a link, a large number with its unit, and a sentence."""

    def __init__(self, title: str, icon: str, tooltip: str, link_text: str = "") -> None:
        super().__init__()
        self._title, self._icon_name, self._tone = title, icon, ""
        self._icon = QLabel()
        self.headline = label("", "headline")
        self.unit = FittingLabel("label")
        self.sentence = FittingLabel("label")
        self.link: QPushButton = link(link_text)
        self.link.setVisible(bool(link_text))
        self.link.setAccessibleName(f"{link_text} of {title.lower()}")
        self.setToolTip(tooltip)
        self._lay_out()
        theme.follow(self, self._draw_icon)

    def show_cell(self, cell: Cell) -> None:
        """Show other words."""
        if self.headline.text() != cell.headline:
            self.headline.setText(cell.headline)
        self.unit.set_wordings(cell.unit, cell.short_unit or cell.unit)
        self.sentence.set_wordings(cell.sentence, *cell.shorter)
        if cell.tone != self._tone:
            self._tone = cell.tone
            self._draw_icon()
            set_look(self.sentence, cell.tone if cell.tone in ("warn", "bad") else "label")
        self.setAccessibleName(f"{self._title}: {cell.headline} {cell.unit}, {cell.sentence}")

    def _lay_out(self) -> None:
        top, middle = QHBoxLayout(), QHBoxLayout()
        top.setSpacing(6)
        top.addWidget(self._icon)
        top.addWidget(label(self._title, "small"), 1)
        top.addWidget(self.link)
        middle.setSpacing(8)
        middle.addWidget(self.headline)
        middle.addWidget(self.unit, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 8, 8)
        column.setSpacing(1)
        column.addLayout(top)
        column.addLayout(middle)
        column.addWidget(self.sentence)

    def _draw_icon(self) -> None:
        marks = _LEARNING_ICONS if self._icon_name == "learning" else _ICONS
        self._icon.setPixmap(icons.pixmap(*marks.get(self._tone, (self._icon_name, "text2")), 14))
