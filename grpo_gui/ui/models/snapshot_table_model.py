"""The snapshots of a run as a table: what each column shows, with its definition as tooltip."""

from collections.abc import Mapping, Sequence
from enum import IntEnum

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from grpo_gui.grpo.definitions import definition_of
from grpo_gui.ui import icons
from grpo_gui.ui.formatting import NOTHING, number
from grpo_gui.ui.models.headings import heading
from grpo_gui.ui.models.snapshot_row import FileState, SnapshotRow
from grpo_gui.ui.run_text import start_time

Index = QModelIndex | QPersistentModelIndex
VALUE_ROLE = Qt.ItemDataRole.UserRole
LOOK_ROLE = Qt.ItemDataRole.UserRole + 1  # colour token of the text


_ROOT = QModelIndex()


class Column(IntEnum):
    """The columns, left to right."""

    MARK = 0
    STEP = 1
    MADE = 2
    REWARD = 3
    HELD_OUT = 4
    KL = 5
    SIZE = 6
    FILES = 7
    KEEP = 8


HEADERS = ("", "step", "made", "reward", "held-out", "KL from base", "size", "files", "keep")
_RIGHT = {Column.STEP, Column.REWARD, Column.HELD_OUT, Column.KL, Column.SIZE}
_MADE_ICONS = {"hand": ("hand", "text3"), "base": ("base", "text3")}
_FILE_ICONS = {
    FileState.VERIFIED: ("check", "good"),
    FileState.DAMAGED: ("damaged", "warn"),
    FileState.MISSING: ("damaged", "warn"),
}
_TOOLTIPS = {
    Column.MARK: "The two snapshots that are compared.",
    Column.STEP: "Complete steps in the weights.",
    Column.MADE: "Why the snapshot was made.",
    Column.REWARD: f"Of the step of the snapshot. {definition_of('reward').tooltip}",
    Column.HELD_OUT: f"Of the newest evaluation then. {definition_of('eval/reward').tooltip}",
    Column.KL: f"Of the step of the snapshot. {definition_of('kl').tooltip}",
    Column.SIZE: "What the snapshot takes, its training state included.",
    Column.FILES: "Whether every file still has the hash that it was written with.",
    Column.KEEP: "What keeps it besides being among the last ones.",
}
_TIPS = tuple(_TOOLTIPS[column] for column in Column)


class SnapshotTableModel(QAbstractTableModel):
    """Rows of `SnapshotRow`; `set_marks` says which are A and B."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: Sequence[SnapshotRow] = ()
        self._marks: Mapping[int | None, str] = {}

    def set_rows(self, rows: Sequence[SnapshotRow]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def update_row(self, place: int, rows: Sequence[SnapshotRow]) -> None:
        """Take the rows of which only one differs."""
        self._rows = rows
        self.dataChanged.emit(self.index(place, 0), self.index(place, len(Column) - 1))

    def set_marks(self, marks: Mapping[int | None, str]) -> None:
        """Mark snapshots by their id (None: the base model)."""
        self._marks = marks
        self.refresh()

    def refresh(self) -> None:
        """Draw all cells again, for instance in the colours of another theme."""
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(Column) - 1))

    def row(self, place: int) -> SnapshotRow | None:
        """The snapshot of a row, None outside of the table."""
        return self._rows[place] if 0 <= place < len(self._rows) else None

    def place_of(self, snapshot_id: int | None) -> int:
        """The row of a snapshot (None: the base model), -1 when it is not there."""
        return next((place for place, row in enumerate(self._rows) if row.snapshot_id == snapshot_id), -1)

    def held_out_bounds(self) -> tuple[float, float]:
        """The ends of the held-out bars: from 0, or the lowest reward below it, to 1 or the highest above."""
        known = [row.held_out for row in self._rows if row.held_out == row.held_out]
        return min([0.0, *known]), max([1.0, *known])

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Rows of the table."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Columns of the table."""
        return 0 if parent.isValid() else len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Names of the columns with their definitions."""
        return heading(section, orientation, role, HEADERS, _TIPS, _alignment)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """One cell."""
        row, column = self._rows[index.row()], Column(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._text(row, column)
            case Qt.ItemDataRole.ToolTipRole:
                return _tooltip(row, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.DecorationRole:
                return _icon(row, column)
            case _ if role == VALUE_ROLE:
                return row.held_out if row.held_out == row.held_out else None
            case _ if role == LOOK_ROLE:
                return _look(row, column)
            case _:
                return None

    def _text(self, row: SnapshotRow, column: Column) -> str:
        match column:
            case Column.MARK:
                return self._marks.get(row.snapshot_id, "")
            case Column.STEP:
                return str(row.step)
            case Column.MADE:
                return row.made
            case Column.REWARD:
                return number(row.reward)
            case Column.HELD_OUT:
                return number(row.held_out, 3)
            case Column.KL:
                return "0" if row.is_base else number(row.kl)
            case Column.SIZE:
                return size_text(row.size_bytes) if row.size_bytes else NOTHING
            case Column.FILES:
                return row.files.value
            case Column.KEEP:
                return row.keep


def size_text(size_bytes: int) -> str:
    """Bytes in the unit that leaves few digits: 1.8 MB, 14.4 MB, 2.1 GB."""
    for limit, unit in ((1e9, "GB"), (1e6, "MB")):
        if size_bytes >= limit:
            return f"{number(size_bytes / limit, 1)} {unit}"
    return f"{number(size_bytes / 1e3, 0)} kB"


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in _RIGHT else Qt.AlignmentFlag.AlignLeft
    return (Qt.AlignmentFlag.AlignHCenter if column == Column.MARK else side) | Qt.AlignmentFlag.AlignVCenter


def _icon(row: SnapshotRow, column: Column) -> object:
    known = None
    if column is Column.MADE:
        known = ("best", "orange") if row.is_best else _MADE_ICONS.get(row.reason)
    elif column is Column.FILES:
        known = _FILE_ICONS.get(row.files)
    return None if known is None else icons.pixmap(known[0], known[1], 14)


def _look(row: SnapshotRow, column: Column) -> str:
    if row.superseded or (column is Column.FILES and row.files in (FileState.CHECKING, FileState.NOT_COPIED)):
        return "text3"
    return "softtext" if column is Column.MARK else "text2" if column is Column.KEEP else "text"


def _tooltip(row: SnapshotRow, column: Column) -> str:
    if column is Column.FILES and row.problem:
        return row.problem
    if column is Column.MADE and not row.is_base:
        state = "with training state" if row.has_training_state else "without training state: no exact resume"
        return f"{start_time(row.created_s)}, {state}"
    return _TOOLTIPS[column]
