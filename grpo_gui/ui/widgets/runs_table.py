"""The table of runs: tick boxes in the colour and dash of the curves, sparklines on one scale, keys."""

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractItemView

from grpo_gui.ui import theme, tokens
from grpo_gui.ui.models.run_styles import style_of
from grpo_gui.ui.models.runs_row import RunRow
from grpo_gui.ui.models.runs_table_model import (
    LOOK_ROLE,
    SLOT_ROLE,
    SPARK_ROLE,
    Column,
    RunsTableModel,
    sparkline_points,
)
from grpo_gui.ui.plot_style import pen
from grpo_gui.ui.widgets.cell_delegates import CellDelegate, PaintedDelegate
from grpo_gui.ui.widgets.plain_table import Columns, PlainTable

Index = QModelIndex | QPersistentModelIndex

_COLUMNS = Columns(
    widths={
        Column.OVERLAY: 58,
        Column.STATE: 116,
        Column.TASK: 104,
        Column.ORIGIN: 100,
        Column.STEPS: 88,
        Column.REWARD: 62,
        Column.HELD_OUT: 70,
        Column.CURVE: 132,
        Column.KL: 68,
        Column.TIME: 92,
        Column.STARTED: 112,
        Column.TAGS: 120,
    },
    stretched=(Column.RUN,),
    least=150,
    give_way=(Column.KL, Column.TIME, Column.ORIGIN, Column.TASK, Column.TAGS, Column.STARTED, Column.REWARD),
)


class RunsTable(PlainTable):
    """`chosen` when the selection changed; the other signals name what a key or a click asks for."""

    chosen = Signal()
    overlay_toggled = Signal(object)  # list[RunRow]
    opened = Signal(object)  # RunRow
    rename_asked = Signal()
    delete_asked = Signal()
    tags_asked = Signal()

    def __init__(self) -> None:
        runs = RunsTableModel()
        super().__init__("Runs", runs, _COLUMNS, tokens.ROW_WIDE)
        runs.setParent(self)
        self.runs = runs
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        header = self.horizontalHeader()
        header.setSectionsClickable(True)
        header.sectionClicked.connect(self._sort)
        self.setItemDelegate(CellDelegate(self, LOOK_ROLE, Column.RUN))
        self.setItemDelegateForColumn(Column.OVERLAY, _OverlayDelegate(self))
        self.setItemDelegateForColumn(Column.CURVE, _CurveDelegate(self))
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosen.emit())
        self.doubleClicked.connect(self._open)
        theme.follow(self, self.restyle)

    @property
    def selected(self) -> list[RunRow]:
        """The selected runs, from above."""
        places = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [row for row in map(self.runs.row, places) if row is not None]

    def select(self, run_ids: set[int]) -> None:
        """Select these runs, as far as they are listed."""
        model = self.selectionModel()
        model.clearSelection()
        flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
        for place in range(self.runs.rowCount()):
            row = self.runs.row(place)
            if row is not None and row.id in run_ids:
                model.select(self.runs.index(place, 0), flags)
                model.setCurrentIndex(self.runs.index(place, 0), QItemSelectionModel.SelectionFlag.NoUpdate)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a box ticks it and leaves the selection alone."""
        index = self.indexAt(event.position().toPoint())
        row = self.runs.row(index.row()) if index.isValid() else None
        if row is not None and index.column() == Column.OVERLAY and event.button() == Qt.MouseButton.LeftButton:
            self.overlay_toggled.emit([row])
            return
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space ticks, Enter opens, F2 renames, T tags, Delete moves to the bin."""
        match event.key():
            case Qt.Key.Key_Space:
                self.overlay_toggled.emit(self.selected)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self.selected:
                self.opened.emit(self.selected[0])
            case Qt.Key.Key_F2:
                self.rename_asked.emit()
            case Qt.Key.Key_T if not event.modifiers():
                self.tags_asked.emit()
            case Qt.Key.Key_Delete:
                self.delete_asked.emit()
            case _:
                super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Keep the space bar: it would pause the training otherwise."""
        is_space = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Space
        if is_space and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyboardSearch(self, search: str) -> None:
        """Leave letters to the keys above."""

    def _sort(self, section: int) -> None:
        chosen = {row.id for row in self.selected}
        self.runs.order_by(Column(section))
        self.select(chosen)

    def _open(self, index: QModelIndex) -> None:
        row = self.runs.row(index.row())
        if row is not None and index.column() != Column.OVERLAY:
            self.opened.emit(row)


class _OverlayDelegate(PaintedDelegate):
    """A tick box, and while ticked a piece of the run's line beside it."""

    def paint_content(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """Draw box, tick and line."""
        now, slot = theme.current(), index.data(SLOT_ROLE)
        side = theme.px(13)
        box = QRect(rect.x() + theme.px(9), rect.center().y() - side // 2, side, side)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if slot is None:
            painter.setPen(QPen(now.color("ctl"), 1))
            painter.setBrush(now.color("surface"))
            painter.drawRoundedRect(box, 3, 3)
            return
        style = style_of(slot)
        painter.setPen(QPen(now.color(style.color), 1))
        painter.setBrush(now.color(style.color))
        painter.drawRoundedRect(box, 3, 3)
        painter.setPen(QPen(now.color("surface"), 1.6))
        left, middle = box.x(), box.center().y() + 0.5
        tick = (0.24, 0.0), (0.44, 0.2), (0.8, -0.22)
        painter.drawPolyline(QPolygonF([QPointF(left + x * side, middle + y * side) for x, y in tick]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        line = pen(style.color, dash=style.dash)
        line.setWidth(2)
        painter.setPen(line)
        painter.drawLine(box.right() + theme.px(8), box.center().y(), rect.right() - theme.px(2), box.center().y())


class _CurveDelegate(PaintedDelegate):
    """The reward in few points, on the scale that all rows share."""

    def paint_content(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """Draw the curve and a dot at its end."""
        table = self.parent()
        values, slot = index.data(SPARK_ROLE), index.data(SLOT_ROLE)
        if not isinstance(table, RunsTable) or values is None:
            return
        now = theme.current()
        color = now.color(style_of(slot).color if slot is not None else "text3")
        inner = rect.adjusted(theme.px(6), theme.px(5), -theme.px(10), -theme.px(5))
        places = sparkline_points(values, table.runs.bounds, inner.width(), inner.height())
        points = QPolygonF([QPointF(inner.x() + x, inner.y() + y) for x, y in places])
        if points.isEmpty():
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(color, 1))
        painter.drawPolyline(points)
        painter.setBrush(color)
        painter.drawEllipse(points.last(), 1.5, 1.5)
