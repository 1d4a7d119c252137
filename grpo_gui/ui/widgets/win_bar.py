"""The share of wins as a bar with its interval, and diverging bars for single prompts."""

import math

from PySide6.QtCore import QRect, QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from grpo_gui.snapshots.judging import WinRate
from grpo_gui.ui import theme
from grpo_gui.ui.formatting import percent
from grpo_gui.ui.plot_style import pen
from grpo_gui.ui.widgets.bars import paint_advantage_bar

_HEIGHT = 22
_BAR = 8


class WinBar(QWidget):
    """From "B always" at the left to "A always" at the right; the dotted line in the middle is "even"."""

    def __init__(self) -> None:
        super().__init__()
        self._rate = WinRate(0, 0, 0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_rate(self, rate: WinRate) -> None:
        """Show another share with its 95 % interval."""
        self._rate = rate
        low, high = (percent(end, 0) for end in rate.interval())
        self.setAccessibleName(f"A better on {percent(rate.share, 0)}, between {low} and {high}")
        self.update()

    def sizeHint(self) -> QSize:
        """A bar with room for the whisker."""
        return QSize(theme.px(200), theme.px(_HEIGHT))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw track, share, middle and interval."""
        now, width = theme.current(), self.width() - 1
        painter = QPainter(self)
        middle, bar = self.height() / 2, theme.px(_BAR)
        top = middle - bar / 2
        painter.fillRect(QRectF(0, top, width, bar), now.color("line"))
        if not math.isnan(self._rate.share):
            painter.fillRect(QRectF(0, top, width * self._rate.share, bar), now.color("blue"))
        painter.setPen(pen("text2", dash="dot"))
        painter.drawLine(round(width / 2), 0, round(width / 2), self.height())
        if math.isnan(self._rate.share):
            return
        low, high = (round(width * end) for end in self._rate.interval())
        painter.setPen(pen("text"))
        whisker = theme.px(5)
        painter.drawLine(low, round(middle), high, round(middle))
        for end in (low, high):
            painter.drawLine(end, round(middle) - whisker, end, round(middle) + whisker)


class DifferenceBar(QWidget):
    """One difference in reward to the right (A better) or left of an axis; `limit` is the widest one."""

    def __init__(self, value: float, limit: float) -> None:
        super().__init__()
        self._value, self._limit = value, limit
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"difference {value:+.2f}")

    def sizeHint(self) -> QSize:
        """As wide as the bars of a list."""
        return QSize(theme.px(120), theme.px(20))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the bar on its axis."""
        painter = QPainter(self)
        paint_advantage_bar(painter, QRect(0, 0, self.width(), self.height()), self._value, self._limit)
