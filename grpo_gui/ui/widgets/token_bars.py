"""The values of a completion's tokens as bars, with the bounds of the clip range."""

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.formatting import number
from grpo_gui.ui.models.bar_columns import BarColumn, bar_columns, labelled, token_at, y_range, y_ticks
from grpo_gui.ui.models.clip_bounds import Bounds
from grpo_gui.ui.models.token_values import TokenMeasure, TokenValues
from grpo_gui.ui.models.token_words import map_sentence
from grpo_gui.ui.models.visible_text import token_text

_LEFT = 40  # the axis, as in the plots of the Train view
_BOTTOM = 18
_HEIGHT = 118


class TokenBars(QWidget):
    """Bars up and down from zero; a click chooses the token."""

    token_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values: TokenValues | None = None
        self._measure = TokenMeasure.LOG_RATIO
        self._bounds: Bounds = (None, None)
        self._chosen = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setToolTip("The same values as above, one bar for each token. Dashed: where the ratio is clipped.")

    def show_values(self, values: TokenValues, measure: TokenMeasure, bounds: Bounds, chosen: int) -> None:
        """Show a completion's values; `bounds` are those of the ratio and are drawn for the log-ratio only."""
        self._values, self._measure, self._chosen = values, measure, chosen
        self._bounds = bounds if measure is TokenMeasure.LOG_RATIO else (None, None)
        self.setAccessibleName(f"Bars: {map_sentence(values, measure)}")
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for a fixed height."""
        return QSize(theme.px(240), theme.px(_HEIGHT))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click chooses the token of the bar above or below it."""
        if event.button() == Qt.MouseButton.LeftButton and self._values is not None and len(self._values):
            plot = self._plot()
            self.token_chosen.emit(token_at(event.position().x() - plot.left(), len(self._values), plot.width()))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002  # always painted as a whole
        """Paint axis, bounds, bars and labels."""
        if self._values is None:
            return
        painter = QPainter(self)
        painter.setFont(theme.font(11))
        plot = self._plot()
        values = self._values.of(self._measure)
        logs = [math.log(bound) for bound in self._bounds if bound is not None and bound > 0]
        low, high = y_range(values, logs)
        columns = bar_columns(values, plot.width())
        self._paint_axis(painter, plot, low, high)
        if np.isfinite(values).any():
            self._paint_labels(painter, plot, labelled(columns))
            self._paint_bars(painter, plot, columns, low, high)
            self._paint_bounds(painter, plot, low, high)
        else:
            painter.setPen(theme.current().color("text3"))
            painter.drawText(plot, Qt.AlignmentFlag.AlignCenter, f"no {self._measure.value} stored for this completion")
        painter.end()

    def _plot(self) -> QRectF:
        left, bottom = theme.px(_LEFT), theme.px(_BOTTOM)
        return QRectF(left, 4, max(1, self.width() - left - 2), max(1, self.height() - bottom - 4))

    def _paint_axis(self, painter: QPainter, plot: QRectF, low: float, high: float) -> None:
        now = theme.current()
        for tick in y_ticks(low, high):
            y = _y(plot, tick, low, high)
            painter.setPen(now.color("text3", now.grid_alpha) if tick else now.color("line2"))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            painter.setPen(now.color("text3"))
            box = QRectF(0, y - 8, plot.left() - 6, 16)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, _tick_text(tick))
        painter.setPen(now.color("line2"))
        painter.drawLine(plot.topLeft(), plot.bottomLeft())
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())

    def _paint_labels(self, painter: QPainter, plot: QRectF, columns: list[BarColumn]) -> None:
        now, metrics = theme.current(), QFontMetricsF(painter.font())
        if self._values is None:
            return
        end = -math.inf
        for column in columns:
            text = metrics.elidedText(
                token_text(self._values.texts[column.token]).strip() or "␣", Qt.TextElideMode.ElideRight, theme.px(64)
            )
            width = metrics.horizontalAdvance(text)
            middle = plot.left() + column.left + column.width / 2
            left = min(max(middle - width / 2, plot.left()), plot.right() - width)
            if left < end + 8:
                continue
            end = left + width
            painter.setPen(now.color("text3", now.grid_alpha))
            painter.drawLine(QPointF(middle, plot.top()), QPointF(middle, plot.bottom()))
            painter.setPen(now.color("text3"))
            painter.drawText(QPointF(left, self.height() - metrics.descent() - 1), text)

    def _paint_bars(self, painter: QPainter, plot: QRectF, columns: list[BarColumn], low: float, high: float) -> None:
        now, zero = theme.current(), _y(plot, 0.0, low, high)
        for column in columns:
            left = plot.left() + column.left
            if column.token == self._chosen:
                side = theme.px(3)
                ground = QRectF(left - side, plot.top(), column.width + 2 * side, plot.height())
                painter.fillRect(ground, now.color("soft"))
            y = _y(plot, column.value, low, high)
            color = now.color("blue" if column.value > 0 else "vermillion")
            painter.fillRect(QRectF(left, min(y, zero), column.width, max(1.0, abs(zero - y))), color)

    def _paint_bounds(self, painter: QPainter, plot: QRectF, low: float, high: float) -> None:
        now, metrics = theme.current(), QFontMetricsF(painter.font())
        for bound, is_high in zip(self._bounds, (False, True), strict=True):
            if bound is None or bound <= 0:
                continue
            y = _y(plot, math.log(bound), low, high)
            pen = QPen(now.color("text2"), 1)
            pen.setDashPattern([4, 3])
            painter.setPen(pen)
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            text = f"ratio {bound:.4g}"
            width = metrics.horizontalAdvance(text)
            baseline = y - 3 if is_high else y + metrics.ascent() + 1
            if is_high and baseline - metrics.ascent() < 0:
                baseline = y + metrics.ascent() + 1
            if not is_high and baseline + metrics.descent() > plot.bottom():
                baseline = y - 3
            painter.fillRect(
                QRectF(plot.right() - width - 4, baseline - metrics.ascent(), width + 4, metrics.height()),
                now.color("surface", 200),
            )
            painter.setPen(now.color("text3"))
            painter.drawText(QPointF(plot.right() - width - 2, baseline), text)


def _y(plot: QRectF, value: float, low: float, high: float) -> float:
    return plot.bottom() - (value - low) / (high - low) * plot.height()


def _tick_text(tick: float) -> str:
    if tick == 0:
        return "0"
    digits = max(0, min(4, 1 - math.floor(math.log10(abs(tick)))))
    return number(tick, digits).rstrip("0").rstrip(".") if digits else number(tick, 0)
