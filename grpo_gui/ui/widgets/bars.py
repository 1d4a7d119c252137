"""Reward bars and diverging advantage bars: painters, table delegates and the scale they share."""

import math
from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.formatting import number

_BAR_HEIGHT = 8
_NUMBER_WIDTH = 52


def advantage_limit(group_size: int) -> float:
    """Return the largest advantage a group of `group_size` can have, (G-1)/sqrt(G): the bars' fixed scale."""
    return (group_size - 1) / math.sqrt(group_size) if group_size > 1 else 1.0


def paint_reward_bar(painter: QPainter, rect: QRect, value: float | None, low: float = 0.0, high: float = 1.0) -> None:
    """Fill `rect` from the left by the place of `value` between `low` and `high`, on a track. None draws the track."""
    now = theme.current()
    track = _centred(rect)
    painter.fillRect(track, now.color("line"))
    if value is not None and math.isfinite(value) and high > low:
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        painter.fillRect(QRectF(track.x(), track.y(), track.width() * share, track.height()), now.color("green"))


def paint_advantage_bar(painter: QPainter, rect: QRect, value: float | None, limit: float) -> None:
    """Draw `value` to the right (blue) or left (vermillion) of an axis in the middle of `rect`; the axis always."""
    now = theme.current()
    track = _centred(rect)
    middle = track.center().x()
    if value is not None and math.isfinite(value) and limit > 0:
        width = min(abs(value) / limit, 1.0) * track.width() / 2
        left = middle if value > 0 else middle - width
        color = now.color("advantage_positive" if value > 0 else "advantage_negative")
        painter.fillRect(QRectF(left, track.y(), width, track.height()), color)
    painter.fillRect(QRectF(round(middle), track.y() - 2, 1, track.height() + 4), now.color("text3"))


def _centred(rect: QRect) -> QRectF:
    height = theme.px(_BAR_HEIGHT)
    return QRectF(rect.x(), rect.center().y() - height / 2 + 1, rect.width(), height)


class _BarDelegate(QStyledItemDelegate):
    """A cell with a bar and its number at the right. The value is a float, None or NaN in `role`."""

    def __init__(self, parent: QWidget, role: int) -> None:
        super().__init__(parent)
        self._role = role

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw selection ground, bar and number; an exception here would cost the whole window's picture."""
        painter.save()
        try:
            if option.state & QStyle.StateFlag.State_Selected:
                painter.fillRect(option.rect, theme.current().color("soft"))
            value = index.data(self._role)
            if value is None or isinstance(value, int | float):
                self.paint_value(painter, option.rect, None if value is None else float(value), index)
        finally:
            painter.restore()

    def paint_value(
        self, painter: QPainter, rect: QRect, value: float | None, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw one value; subclasses fill it."""
        raise NotImplementedError

    def _split(self, rect: QRect) -> tuple[QRect, QRect]:
        width = theme.px(_NUMBER_WIDTH)
        bar = rect.adjusted(6, 0, -width - 6, 0)
        return bar, QRect(rect.right() - width, rect.y(), width - 6, rect.height())


class RewardBarDelegate(_BarDelegate):
    """A reward as a bar and a number; `bounds` gives the scale's ends, None is an en dash ("no opinion")."""

    def __init__(
        self, parent: QWidget, role: int, bounds: Callable[[], tuple[float, float]] = lambda: (0.0, 1.0)
    ) -> None:
        super().__init__(parent, role)
        self._bounds = bounds

    def paint_value(
        self, painter: QPainter, rect: QRect, value: float | None, _index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw the bar on its track and the value with two digits."""
        bar, text = self._split(rect)
        paint_reward_bar(painter, bar, value, *self._bounds())
        _draw_number(painter, text, number(value))


class AdvantageBarDelegate(_BarDelegate):
    """An advantage as a diverging bar and a signed number; `limit` gives the scale for a row's group."""

    def __init__(
        self, parent: QWidget, role: int, limit: Callable[[QModelIndex | QPersistentModelIndex], float]
    ) -> None:
        super().__init__(parent, role)
        self._limit = limit

    def paint_value(
        self, painter: QPainter, rect: QRect, value: float | None, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw the bar on its axis and the value with its sign."""
        bar, text = self._split(rect)
        paint_advantage_bar(painter, bar, value, self._limit(index))
        _draw_number(painter, text, number(value, sign=True))


def _draw_number(painter: QPainter, rect: QRect, text: str) -> None:
    painter.setPen(theme.current().color("text"))
    painter.setFont(theme.font(12))
    painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
