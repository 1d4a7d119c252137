"""The self-checks of the first step as a short list: is the loop right before it runs for hours?"""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel

from grpo_gui.diagnose.self_checks import Outcome, SelfCheck
from grpo_gui.ui import icons, theme
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import label

_MARKS = {
    Outcome.PASSED: ("good", "good"),
    Outcome.FAILED: ("fail", "bad"),
    Outcome.UNKNOWN: ("unknown", "text3"),
}


class ChecksCard(Card):
    """A row a check: mark, what was checked, and the numbers in a sentence."""

    def __init__(self) -> None:
        super().__init__("Self-checks of the first step")
        self.checks: tuple[SelfCheck, ...] = ()
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(2, 1)
        self._rows: list[tuple[QLabel, QLabel, QLabel]] = []
        self.body.addLayout(self._grid)
        self.body.addStretch(1)
        theme.follow(self, self._draw)

    def show_checks(self, checks: Sequence[SelfCheck]) -> None:
        """Show the checks of a run."""
        self.checks = tuple(checks)
        while len(self._rows) < len(checks):
            row = label(), label("", "value"), label("", "label", wrap=True)
            for column, cell in enumerate(row):
                place = len(self._rows), column, Qt.AlignmentFlag.AlignTop
                self._grid.addWidget(cell, *place) if column < 2 else self._grid.addWidget(cell, *place[:2])
            self._rows.append(row)
        failed = sum(one.outcome is Outcome.FAILED for one in checks)
        passed = sum(one.outcome is Outcome.PASSED for one in checks)
        self.header.set_hint(f"{passed} passed, {failed} failed" if checks else "")
        self._draw()

    def _draw(self) -> None:
        for one, (mark, title, sentence) in zip(self.checks, self._rows, strict=False):
            mark.setPixmap(icons.pixmap(*_MARKS[one.outcome], 14))
            mark.setAccessibleName(one.outcome.value)
            title.setText(one.label)
            sentence.setText(one.sentence)
