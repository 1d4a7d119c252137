"""A filled area between two curves, cheaper than pyqtgraph's own because it keeps no curves of its own."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from grpo_gui.store.records import Float64Array


class PolygonItem(pg.GraphicsObject):  # type: ignore[misc]  # pyqtgraph is untyped
    """The area between a lower and an upper curve; points that are not finite are left out."""

    def __init__(self) -> None:
        super().__init__()
        self._path = QPainterPath()
        self._bounds = QRectF()
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
        self.prepareGeometryChange()
        self._path = pg.functions.arrayToQPath(x, y, connect="all")
        self._bounds = QRectF(x.min(), y.min(), x.max() - x.min(), y.max() - y.min())
        self.update()

    def clear(self) -> None:
        """Show nothing."""
        self.prepareGeometryChange()
        self._path, self._bounds = QPainterPath(), QRectF()

    def boundingRect(self) -> QRectF:
        """The place of the area, in values."""
        return self._bounds

    def paint(self, painter: QPainter, _: QStyleOptionGraphicsItem, __: QWidget | None = None) -> None:
        """Fill the area, then draw its outline."""
        painter.fillPath(self._path, self._fill)
        if self._edge is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(self._edge)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(self._path)
