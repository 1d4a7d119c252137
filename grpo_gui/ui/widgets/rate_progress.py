"""How far the ratings have come: a bar in parts, and each part in words."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.formatting import count
from grpo_gui.ui.widgets.labels import label

_PARTS = (
    ("used", "green", "Groups whose rating has been part of an update."),
    ("rated", "blue", "Groups rated since, which a later update takes up."),
    ("waiting", "line2", "Groups that can be rated."),
    ("expired", "vermillion", "Rated too late for an update: the policy had moved on. They still measure the reward."),
)
_BAR = 8


class RateProgress(QWidget):
    """Four counts as a bar and as lines."""

    def __init__(self) -> None:
        super().__init__()
        self.pace = label("", "value", "Ratings a minute over the last ten minutes.")
        self.bar = _Bar()
        self.numbers = {}
        self.words = {}
        head = QHBoxLayout()
        head.addWidget(label("Progress", "title"))
        head.addStretch(1)
        head.addWidget(self.pace)
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(2, 1)
        for row, (name, color, tooltip) in enumerate(_PARTS):
            self.numbers[name], self.words[name] = label("0", "value", tooltip), label("", "label", tooltip)
            grid.addWidget(_Swatch(color), row, 0)
            grid.addWidget(self.numbers[name], row, 1)
            grid.addWidget(self.words[name], row, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self.bar)
        column.addLayout(grid)

    def show_counts(self, counts: dict[str, int], last_used: int | None, pace: float | None) -> None:
        """Show how many groups are used, rated, waiting and expired."""
        words = {
            "used": "used" if last_used is None else f"used, last at step {last_used}",
            "rated": "rated, not yet used",
            "waiting": "waiting",
            "expired": "expired, kept as audit set",
        }
        for name, number in counts.items():
            self.numbers[name].setText(count(number))
            self.words[name].setText(words[name])
        self.pace.setText("" if pace is None else f"{pace:.1f} per minute")
        self.bar.show_counts(counts)


class _Bar(QWidget):
    """The parts beside each other, each in its colour."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[str, int] = {}
        self.setFixedHeight(theme.px(_BAR))

    def show_counts(self, counts: dict[str, int]) -> None:
        """Show other parts."""
        self._counts = counts
        self.setAccessibleName("Progress: " + ", ".join(f"{number} {name}" for name, number in counts.items()))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the parts with a gap between them."""
        now, painter = theme.current(), QPainter(self)
        total = sum(self._counts.values())
        if not total:
            painter.fillRect(self.rect(), now.color("line"))
            return
        x = 0.0
        for name, color, _ in _PARTS:
            width = self.width() * self._counts.get(name, 0) / total
            if width:
                painter.fillRect(QRectF(x, 0, max(width - 1, 1), self.height()), now.color(color))
            x += width


class _Swatch(QWidget):
    """The colour of a part."""

    def __init__(self, color: str) -> None:
        super().__init__()
        self._color = color
        self.setFixedSize(theme.px(10), theme.px(_BAR))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Fill it."""
        QPainter(self).fillRect(self.rect(), theme.current().color(self._color))
