"""The group that was rated last, opened: what the person said beside what the program said."""

from dataclasses import dataclass

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from grpo_gui.ui.formatting import number
from grpo_gui.ui.models.completions_model import plain_tooltip
from grpo_gui.ui.models.headings import heading
from grpo_gui.ui.models.visible_text import one_line

SAID, TEXT, COUNT, TERM, PROGRAM = range(5)
VALUE_ROLE = Qt.ItemDataRole.UserRole
_HEADERS = ("you said", "completion", "count", "your term", "program")
_TIPS = (
    "Your rank, score or word for this answer.",
    "What the model wrote.",
    "How many completions of the group gave this answer; it was rated once and counts for each.",
    "What your rating becomes as a reward, before its weight: centred in the group.",
    "The reward that the program gave, hidden until you submitted.",
)

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class OpenedRow:
    """One answer. None: no opinion."""

    said: str
    text: str
    count: int
    term: float | None
    program: float | None


@dataclass(frozen=True, slots=True)
class OpenedGroup:
    """The rows, best first; `bounds` are the ends of the program's scale; `tau` is None without an order to compare."""

    step: int
    submitted_s: float
    rows: tuple[OpenedRow, ...]
    group_size: int
    bounds: tuple[float, float]
    tau: float | None


class OpenedTableModel(QAbstractTableModel):
    """One row per answer."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[OpenedRow, ...] = ()

    def show_rows(self, rows: tuple[OpenedRow, ...]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  # Qt's own default
        """The different answers."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  # Qt's own default
        """What was said, text, count, term, program."""
        return 0 if parent.isValid() else len(_HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Name and definition of a column."""
        return heading(section, orientation, role, _HEADERS, _TIPS, _alignment)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Words, numbers for the bars, and both for screen readers."""
        row = self.rows[index.row()]
        match role, index.column():
            case Qt.ItemDataRole.DisplayRole, 0:
                return row.said
            case Qt.ItemDataRole.DisplayRole, 1:
                return one_line(row.text) or "(empty)"
            case Qt.ItemDataRole.DisplayRole, 2:
                return f"\u00d7{row.count}"
            case Qt.ItemDataRole.ToolTipRole, 1:
                return plain_tooltip(row.text)
            case Qt.ItemDataRole.AccessibleTextRole, 3:
                return f"your term {number(row.term, sign=True)}"
            case Qt.ItemDataRole.AccessibleTextRole, 4:
                return f"program {number(row.program)}"
            case Qt.ItemDataRole.TextAlignmentRole, 2:
                return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            case _, 3 if role == VALUE_ROLE:
                return row.term
            case _, 4 if role == VALUE_ROLE:
                return row.program
            case _:
                return None


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if column in (SAID, TEXT) else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
