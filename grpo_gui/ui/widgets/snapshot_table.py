"""The table of a run's snapshots: A and B marks, held-out bars, keys for marking, pinning and deleting."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter

from grpo_gui.ui import theme, tokens
from grpo_gui.ui.formatting import number
from grpo_gui.ui.models.snapshot_row import SnapshotRow
from grpo_gui.ui.models.snapshot_table_model import LOOK_ROLE, VALUE_ROLE, Column, SnapshotTableModel
from grpo_gui.ui.widgets.bars import RewardBarDelegate, paint_reward_bar
from grpo_gui.ui.widgets.cell_delegates import CellDelegate
from grpo_gui.ui.widgets.plain_table import Columns, PlainTable

Index = QModelIndex | QPersistentModelIndex

_COLUMNS = Columns(
    widths={
        Column.MARK: 42,
        Column.STEP: 58,
        Column.REWARD: 62,
        Column.HELD_OUT: 146,
        Column.KL: 92,
        Column.SIZE: 74,
        Column.FILES: 104,
        Column.KEEP: 66,
    },
    stretched=(Column.MADE,),
    least=118,
    give_way=(Column.KL, Column.SIZE, Column.KEEP, Column.REWARD),
)


class SnapshotTable(PlainTable):
    """`chosen` gives the row under the cursor; `marked` asks to compare it as A or B."""

    chosen = Signal(object)  # SnapshotRow | None
    marked = Signal(str)  # A, B
    pin_toggled = Signal()
    delete_asked = Signal()
    menu_asked = Signal(QPoint)  # on screen

    def __init__(self) -> None:
        snapshots = SnapshotTableModel()
        super().__init__("Snapshots of the run", snapshots, _COLUMNS, tokens.ROW_WIDE)
        snapshots.setParent(self)
        self.snapshots = snapshots
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(lambda place: self.menu_asked.emit(self.viewport().mapToGlobal(place)))
        self.setItemDelegate(CellDelegate(self, LOOK_ROLE, Column.MARK))
        self.setItemDelegateForColumn(
            Column.HELD_OUT, _HeldOutDelegate(self, VALUE_ROLE, self.snapshots.held_out_bounds)
        )
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        theme.follow(self, self.restyle)

    @property
    def current_row(self) -> SnapshotRow | None:
        """The snapshot under the cursor."""
        return self.snapshots.row(self.currentIndex().row())

    def choose(self, place: int) -> None:
        """Put the cursor on a row."""
        self.setCurrentIndex(self.snapshots.index(place, Column.STEP))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """A and B mark, P pins, Delete deletes."""
        match event.key():
            case Qt.Key.Key_A | Qt.Key.Key_B if not event.modifiers():
                self.marked.emit(event.text().upper())
            case Qt.Key.Key_P if not event.modifiers():
                self.pin_toggled.emit()
            case Qt.Key.Key_Delete:
                self.delete_asked.emit()
            case _:
                super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:
        """Leave letters to the keys above."""

    def sizeHint(self) -> QSize:
        """Header and ten rows."""
        return QSize(theme.px(640), theme.px(tokens.TABLE_HEADER_HEIGHT) + 10 * theme.px(tokens.ROW_WIDE))

    def _current_changed(self) -> None:
        self.chosen.emit(self.current_row)


class _HeldOutDelegate(RewardBarDelegate):
    """A held-out reward: a bar, and three digits, because snapshots lie close together."""

    def paint_value(self, painter: QPainter, rect: QRect, value: float | None, _index: Index) -> None:
        """Draw the bar on its track and the number."""
        bar, text = self._split(rect)
        paint_reward_bar(painter, bar, value, *self._bounds())
        painter.setPen(theme.current().color("text"))
        painter.setFont(theme.font(12))
        painter.drawText(text, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, number(value, 3))
