"""One bare plot: the look of the axes, the mouse and the keys; what is drawn in it comes as layers."""

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.plot_style import pen, style_plot
from grpo_gui.ui.plots.grid_lines import GridLines
from grpo_gui.ui.plots.shared_axis import SharedAxis
from grpo_gui.ui.plots.ticks import Range, Ticks, linear_ticks

_WHEEL_FACTOR = 1.2  # per notch of 120
_CLICK_DISTANCE = 4  # pixels that a hand trembles


class PlotArea(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph is untyped
    """A plot whose x axis belongs to a `SharedAxis`: wheel zooms, drag pans, a click names a step.

    Keys: Left/Right move the crosshair (with Shift by 10), Enter opens its step, + and - zoom, Home follows.
    """

    step_clicked = Signal(int)
    menu_asked = Signal(object)  # QPoint on screen

    def __init__(self, axis: SharedAxis, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.axis = axis
        self.shows_x_ticks = True
        self._x_range: Range = (0.0, 1.0)
        self._y_range: Range = (0.0, 1.0)
        self._pressed: QPointF | None = None
        self._dragged: QPointF | None = None
        self._shape()
        self.grid_lines = GridLines()
        self.addItem(self.grid_lines, ignoreBounds=True)
        self.mark_line, self.cursor_line = (pg.InfiniteLine(angle=90, movable=False) for _ in range(2))
        for line in (self.mark_line, self.cursor_line):
            line.setVisible(False)
            line.setZValue(30)
            self.addItem(line, ignoreBounds=True)
        self.restyle()
        axis.range_changed.connect(self.apply_x_range)
        axis.cursor_changed.connect(self._move_cursor)
        axis.mark_changed.connect(self._move_mark)
        self.apply_x_range()

    def _shape(self) -> None:
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(120, 40)
        self.getViewBox().disableAutoRange()
        self.getViewBox().setDefaultPadding(0)
        self.getPlotItem().getAxis("left").setTicks([[]])  # until the first drawing: pyqtgraph's own would crowd

    def restyle(self) -> None:
        """Take the colours and sizes of the current theme."""
        style_plot(self.getPlotItem(), tick_labels=self.shows_x_ticks)
        self.getViewBox().setMouseEnabled(x=False, y=False)
        for side in ("left", "bottom"):
            self.getPlotItem().getAxis(side).setGrid(False)
        now = theme.current()
        self.grid_lines.set_pen(pen("text3", alpha=now.grid_alpha))
        self.cursor_line.setPen(pen("text2"))
        self.mark_line.setPen(pen("accent"))

    def show_x_ticks(self, shown: bool) -> None:
        """Draw the labels of the x axis, or leave the room to the curves."""
        if shown != self.shows_x_ticks:
            self.shows_x_ticks = shown
            self.restyle()

    def take_growth(self) -> None:
        """Take the range of the shared axis where it has grown with the run; call when the longer run is drawn."""
        if self._x_range != self.axis.range:
            self.apply_x_range()

    def apply_x_range(self) -> None:
        """Take the range, the ticks and the lines of the shared axis."""
        low, high = self._x_range = self.axis.range
        self.getViewBox().setXRange(low, high, padding=0)
        ticks = linear_ticks(low, high, max(4, min(7, self.width() // theme.px(70))))
        margin = 0.02 * (high - low)
        ticks = [tick for tick in ticks if low + margin < tick[0] < high - margin]
        self.getPlotItem().getAxis("bottom").setTicks([ticks])
        self.grid_lines.set_x([place for place, _ in ticks], (low, high))
        self._move_cursor()
        self._move_mark()

    def apply_y_range(self, y_range: Range, ticks: Ticks) -> None:
        """Take a y range with its ticks; nothing happens when it is the one already shown."""
        if y_range != self._y_range:
            self._y_range = y_range
            self.getViewBox().setYRange(*y_range, padding=0)
            self.getPlotItem().getAxis("left").setTicks([ticks])
            self.grid_lines.set_y([place for place, _ in ticks], y_range)

    def max_y_ticks(self) -> int:
        """How many ticks the height has room for."""
        return max(2, min(5, int(self.height()) // theme.px(30)))

    def label_pad(self) -> float:
        """The share of the y range to add at either end, so that no tick label leaves the axis."""
        return max(0.05, theme.px(8) / max(float(self.getViewBox().height()), 1.0))

    @property
    def y_range(self) -> Range:
        """The shown range of the values (log10 of them on a log scale)."""
        return self._y_range

    def plot_width(self) -> int:
        """Pixel columns of the drawing area."""
        return max(int(self.getViewBox().width()), 1)

    def _place(self, position: QPointF) -> float:
        return float(self.getViewBox().mapSceneToView(self.mapToScene(position.toPoint())).x())

    def _move_cursor(self) -> None:
        self._move_line(self.cursor_line, self.axis.cursor_step)

    def _move_mark(self) -> None:
        self._move_line(self.mark_line, self.axis.marked_step)

    def _move_line(self, line: pg.InfiniteLine, step: int | None) -> None:
        line.setVisible(step is not None)
        if step is not None:
            line.setValue(self.axis.place(step))

    def resizeEvent(self, event: QEvent) -> None:
        """Thin out the ticks when the plot gets narrower."""
        super().resizeEvent(event)
        if hasattr(self, "axis"):  # pyqtgraph resizes before the constructor is through
            self.apply_x_range()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the mouse; a sideways wheel or Shift pans."""
        delta = event.angleDelta()
        low, high = self.axis.range
        if delta.x() or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.axis.pan(-(delta.x() or delta.y()) / 120 * 0.1 * (high - low))
        else:
            self.axis.zoom(_WHEEL_FACTOR ** (-delta.y() / 120), self._place(event.position()))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a click or a drag."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = self._dragged = event.position()
            self.setFocus(Qt.FocusReason.MouseFocusReason)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan while dragging, else move the crosshair."""
        if self._pressed is not None and self._dragged is not None:
            if (event.position() - self._pressed).manhattanLength() > _CLICK_DISTANCE or self._dragged != self._pressed:
                self.axis.pan(self._place(self._dragged) - self._place(event.position()))
                self._dragged = event.position()
            return
        inside = self.getViewBox().sceneBoundingRect().contains(self.mapToScene(event.position().toPoint()))
        self.axis.set_cursor(self.axis.step_at(self._place(event.position())) if inside else None)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click without a drag names the step under it."""
        clicked = self._pressed is not None and self._pressed == self._dragged
        self._pressed = self._dragged = None
        step = self.axis.step_at(self._place(event.position()))
        if clicked and event.button() == Qt.MouseButton.LeftButton and step is not None:
            self.step_clicked.emit(step)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Two quick clicks are two clicks."""
        self.mousePressEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Take the crosshair away."""
        self.axis.set_cursor(None)
        super().leaveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the plot's own menu."""
        self.menu_asked.emit(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The keys named in the class's docstring; others go up."""
        stride = 10 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        match event.key():
            case Qt.Key.Key_Left:
                self.axis.move_cursor(-stride)
            case Qt.Key.Key_Right:
                self.axis.move_cursor(stride)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self.axis.cursor_step is not None:
                self.step_clicked.emit(self.axis.cursor_step)
            case Qt.Key.Key_Plus | Qt.Key.Key_Minus:
                factor = 1 / _WHEEL_FACTOR if event.key() == Qt.Key.Key_Plus else _WHEEL_FACTOR
                self.axis.zoom(factor, sum(self.axis.range) / 2)
            case Qt.Key.Key_Home:
                self.axis.follow()
            case _:
                event.ignore()
