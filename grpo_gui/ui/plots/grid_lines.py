"""The grid of a plot as an item of its own: pyqtgraph's belongs to the axes and draws their labels again each time."""

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from grpo_gui.ui.plots.ticks import Range


class GridLines(pg.GraphicsObject):  # type: ignore[misc]  # pyqtgraph is untyped
    """Lines at the ticks, across the whole plot."""

    def __init__(self) -> None:
        super().__init__()
        self._pen = QPen()
        self._x: tuple[float, ...] = ()
        self._y: tuple[float, ...] = ()
        self._x_range: Range = (0.0, 1.0)
        self._y_range: Range = (0.0, 1.0)
        self.setZValue(-5)

    def set_pen(self, pen: QPen) -> None:
        """Draw with a cosmetic pen."""
        self._pen = pen
        self.update()

    def set_x(self, places: Sequence[float], shown: Range) -> None:
        """Put the upright lines at these places of the shown range."""
        self.prepareGeometryChange()
        self._x, self._x_range = tuple(places), shown
        self.update()

    def set_y(self, places: Sequence[float], shown: Range) -> None:
        """Put the level lines at these places of the shown range."""
        self.prepareGeometryChange()
        self._y, self._y_range = tuple(places), shown
        self.update()

    def boundingRect(self) -> QRectF:
        """The whole plot, in values."""
        (left, right), (low, high) = self._x_range, self._y_range
        return QRectF(left, low, right - left, high - low)

    def paint(self, painter: QPainter, _: QStyleOptionGraphicsItem, __: QWidget | None = None) -> None:
        """Draw the lines sharp."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(self._pen)
        (left, right), (low, high) = self._x_range, self._y_range
        upright = [QLineF(x, low, x, high) for x in self._x]
        painter.drawLines(upright + [QLineF(left, y, right, y) for y in self._y])
