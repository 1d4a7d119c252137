"""Curves, dots and areas of a plot: lean items, because pyqtgraph's own measure themselves again and again."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from grpo_gui.store.records import Float64Array
from grpo_gui.ui import theme
from grpo_gui.ui.plot_style import ANTIALIAS_LIMIT


class _Shape(pg.GraphicsObject):  # type: ignore[misc]  # pyqtgraph is untyped
    """Something that lies between known bounds."""

    def __init__(self) -> None:
        super().__init__()
        self._bounds = QRectF()

    def boundingRect(self) -> QRectF:
        """The place of the shape, in values."""
        return self._bounds

    def _lie_within(self, x: Float64Array, y: Float64Array) -> None:
        """Take the bounds of finite points, of which there is at least one."""
        self.prepareGeometryChange()
        left, low = float(x.min()), float(y.min())
        self._bounds = QRectF(left, low, float(x.max()) - left or 1e-9, float(y.max()) - low or 1e-9)
        self.update()

    def _vanish(self) -> None:
        self.prepareGeometryChange()
        self._bounds = QRectF()


class CurveItem(_Shape):
    """A line through points; one that is not finite is a gap."""

    def __init__(self) -> None:
        super().__init__()
        self._path = QPainterPath()
        self._pen = QPen()
        self._smooth = True

    def set_pen(self, pen: QPen) -> None:
        """Draw with a cosmetic pen of width 1."""
        self._pen = pen
        self.update()

    def set_points(self, x: Float64Array, y: Float64Array) -> None:
        """Show other points, by rising x."""
        known = np.isfinite(y)
        if not known.any():
            self._path = QPainterPath()
            self._vanish()
            return
        everything = bool(known.all())
        self._path = pg.functions.arrayToQPath(x, y, connect="all" if everything else "finite", finiteCheck=False)
        self._smooth = len(x) <= ANTIALIAS_LIMIT
        self._lie_within(x, y if everything else y[known])

    def clear(self) -> None:
        """Show nothing."""
        self.set_points(np.empty(0), np.empty(0))

    def paint(self, painter: QPainter, _: QStyleOptionGraphicsItem, __: QWidget | None = None) -> None:
        """Draw the line."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, self._smooth)
        painter.setPen(self._pen)
        painter.drawPath(self._path)


class DotsItem(_Shape):
    """A round dot at each point, with a border of the surface's colour."""

    _SIZE = 5.0
    _BORDER = 1.0

    def __init__(self) -> None:
        super().__init__()
        self._points = QPolygonF()
        self._color = QColor()
        self._border = QColor()

    def set_colors(self, color: QColor, border: QColor) -> None:
        """Fill the dots and edge them."""
        self._color, self._border = color, border
        self.update()

    def set_points(self, x: Float64Array, y: Float64Array) -> None:
        """Show other points, all of them finite."""
        self._points = QPolygonF([QPointF(*point) for point in zip(x.tolist(), y.tolist(), strict=True)])
        if len(x):
            self._lie_within(x, y)
        else:
            self._vanish()

    def boundingRect(self) -> QRectF:
        """The place of the dots with their whole size."""
        width, height = self.pixelVectors()
        dx, dy = (5 * vector.length() if vector is not None else 0.0 for vector in (width, height))
        return self._bounds.adjusted(-dx, -dy, dx, dy)

    def paint(self, painter: QPainter, _: QStyleOptionGraphicsItem, __: QWidget | None = None) -> None:
        """Draw the borders, then the dots: points of wide, round, cosmetic pens."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        size = theme.px(self._SIZE)
        for color, width in ((self._border, size + 2 * self._BORDER), (self._color, size)):
            pen = QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
            pen.setCosmetic(True)
            painter.setPen(pen)
            painter.drawPoints(self._points)


class PolygonItem(_Shape):
    """The area between a lower and an upper curve; points that are not finite are left out."""

    def __init__(self) -> None:
        super().__init__()
        self._path = QPainterPath()
        self._fill = QColor()
        self._edge: QPen | None = None

    def set_colors(self, fill: QColor, edge: QPen | None) -> None:
        """Fill in `fill`; `edge` draws the outline, None leaves it away."""
        self._fill, self._edge = fill, edge
        self.update()

    def set_between(self, low_x: Float64Array, low: Float64Array, high_x: Float64Array, high: Float64Array) -> None:
        """Show the area between two curves, each by rising x."""
        below, above = np.isfinite(low), np.isfinite(high)
        if not below.any() or not above.any():
            self.clear()
            return
        x = np.concatenate([low_x[below], high_x[above][::-1]])
        y = np.concatenate([low[below], high[above][::-1]])
        self._path = pg.functions.arrayToQPath(x, y, connect="all", finiteCheck=False)
        self._lie_within(x, y)

    def clear(self) -> None:
        """Show nothing."""
        self._path = QPainterPath()
        self._vanish()

    def paint(self, painter: QPainter, _: QStyleOptionGraphicsItem, __: QWidget | None = None) -> None:
        """Fill the area, then draw its outline."""
        painter.fillPath(self._path, self._fill)
        if self._edge is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(self._edge)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(self._path)
