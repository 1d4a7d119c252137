"""What the program says of two snapshots: the win rate by the run's own reward, and where they differ most."""

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from grpo_gui.snapshots.judging import Comparison, WinRate
from grpo_gui.ui import theme
from grpo_gui.ui.formatting import count, number
from grpo_gui.ui.widgets.buttons import button, link
from grpo_gui.ui.widgets.labels import ElidedLabel, label
from grpo_gui.ui.widgets.win_bar import DifferenceBar, WinBar

PROMPTS = (50, 200, 500)
_DEFAULT_PROMPTS = 200
_LARGEST = 5
_RATE_TIP = (
    "Prompts on which A has the higher reward, of those on which the two rewards differ; equal ones are counted apart. "
    "The interval is Wilson's for 95 %."
)


class ProgramResult(QWidget):
    """`asked` when the comparison shall be made, `cancelled` when it shall not go on."""

    asked = Signal()
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.prompts = QComboBox()
        self.compare = button("Compare", "play", primary=True, tooltip="Let both answer the same held-out prompts.")
        self.cancel = link("Cancel", tooltip="Stop; nothing is kept.")
        self.progress = QProgressBar()
        self.note = ElidedLabel("", "hint")
        self.headline = label("", "cardtitle", _RATE_TIP)
        self.interval = ElidedLabel("", "hint")
        self.interval.setToolTip(_RATE_TIP)
        self.bar = WinBar()
        self.counts = label("", "small", _RATE_TIP)
        self._result = QWidget()
        self._lay_out()
        self.compare.clicked.connect(self.asked)
        self.cancel.clicked.connect(self.cancelled)
        self.show_ready("", True)

    @property
    def prompt_count(self) -> int:
        """How many held-out prompts both shall answer."""
        return int(self.prompts.currentData())

    def show_ready(self, note: str, can_compare: bool) -> None:
        """Offer the comparison; `note` says what it will tell, or why it cannot be made."""
        self._show(progress=False, result=False)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.compare.setEnabled(can_compare)

    def show_progress(self, done: int, total: int) -> None:
        """Show how far the comparison is."""
        self._show(progress=True, result=False)
        self.progress.setRange(0, max(total, 1))
        self.progress.setValue(done)
        self.note.setText(f"{count(done)} of {count(total)} completions" if total else "Loading snapshot A\u2026")
        self.note.show()

    def show_comparison(self, comparison: Comparison) -> None:
        """Show the result."""
        self._show(progress=False, result=True)
        rate, pairs = comparison.win_rate, len(comparison.pairs)
        self.note.setText(f"{count(pairs)} held-out prompts, same random numbers")
        self.note.show()
        self.headline.setText(_headline(rate))
        self.interval.setText(f"of the prompts that differ, {interval_text(rate)}" if rate.wins + rate.losses else "")
        self.bar.show_rate(rate)
        self.counts.setText(counts_text(rate))

    def _show(self, *, progress: bool, result: bool) -> None:
        self.progress.setVisible(progress)
        self.cancel.setVisible(progress)
        self._result.setVisible(result)
        self.compare.setVisible(not progress and not result)
        self.prompts.setVisible(not progress and not result)

    def _lay_out(self) -> None:
        for number_of in PROMPTS:
            self.prompts.addItem(f"{number_of} prompts", number_of)
        self.prompts.setCurrentIndex(PROMPTS.index(_DEFAULT_PROMPTS))
        self.prompts.setAccessibleName("Held-out prompts")
        self.prompts.setToolTip("How many held-out prompts both answer; more make the interval narrower.")
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Progress of the comparison")
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(label("By the program", "title"))
        head.addWidget(self.note, 1)
        head.addWidget(self.cancel)
        head.addWidget(self.prompts)
        head.addWidget(self.compare)
        line = QHBoxLayout()
        line.addWidget(self.headline)
        line.addWidget(self.interval, 1)
        ends = QHBoxLayout()
        for text, side in (("B always", "AlignLeft"), ("even", "AlignHCenter"), ("A always", "AlignRight")):
            end = label(text, "hint")
            end.setAlignment(Qt.AlignmentFlag[side])
            ends.addWidget(end, 1)
        inner = QVBoxLayout(self._result)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(2)
        inner.addLayout(line)
        inner.addWidget(self.bar)
        inner.addLayout(ends)
        inner.addWidget(self.counts)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.progress)
        column.addWidget(self._result)


class LargestDifferences(QWidget):
    """The prompts on which the rewards differ most, with both completions as tooltip."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(0, 1)
        head = QHBoxLayout()
        head.addWidget(label("Largest differences in reward", "title"))
        head.addWidget(ElidedLabel("A minus B", "hint"), 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addLayout(self._grid)

    def show_comparison(self, comparison: Comparison) -> None:
        """Show other prompts."""
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        pairs = comparison.largest(_LARGEST)
        limit = max((abs(pair.difference) for pair in pairs), default=1.0)
        for place, pair in enumerate(pairs):
            prompt = ElidedLabel(pair.prompt, "label")
            prompt.setToolTip(f"{pair.prompt}\n\nA: {pair.first.text}\nB: {pair.second.text}")
            value = label(number(pair.difference, sign=True), "small")
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            value.setMinimumWidth(theme.px(48))
            for column, widget in enumerate((prompt, DifferenceBar(pair.difference, limit), value)):
                self._grid.addWidget(widget, place, column)
        self.setVisible(bool(pairs))


def better_text(rate: WinRate) -> str:
    """Who is better, and on which share: A better on 61 %."""
    name, share = ("A", rate.share) if rate.share >= 0.5 else ("B", 1 - rate.share)
    return f"{name} better on {number(100 * share, 0)} %"


def interval_text(rate: WinRate) -> str:
    """The interval of the better one's share: 95 %: 51 to 70."""
    low, high = rate.interval()
    if rate.share < 0.5:
        low, high = 1 - high, 1 - low
    return f"95 %: {number(100 * low, 0)} to {number(100 * high, 0)}"


def counts_text(rate: WinRate) -> str:
    """Wins, ties and losses."""
    return f"{count(rate.wins)} A better     {count(rate.ties)} equal     {count(rate.losses)} B better"


def _headline(rate: WinRate) -> str:
    if math.isnan(rate.share):
        return "No prompt on which the rewards differ" if rate.ties else "No reward to compare by"
    return better_text(rate)
