"""The completions of one group as a table: text, reward, advantage."""

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from grpo_gui.events import CompletionSample, GroupSample
from grpo_gui.grpo.definitions import definition_of
from grpo_gui.ui.formatting import number
from grpo_gui.ui.models.completions_model import plain_tooltip
from grpo_gui.ui.models.headings import heading
from grpo_gui.ui.models.visible_text import one_line

TEXT, REWARD, ADVANTAGE = range(3)
VALUE_ROLE = Qt.ItemDataRole.UserRole
_HEADERS = ("completion", "reward", "advantage")
_REWARD_TIP = f"{definition_of('reward').label}: the weighted sum of the sources that had an opinion."
_TIPS = (
    "What the model wrote, without the end token.",
    _REWARD_TIP,
    "advantage: (reward \u2212 mean of the group) / (its std + eps). The bars share one fixed scale, "
    "the largest advantage that a group of this size can have.",
)

Index = QModelIndex | QPersistentModelIndex


class GroupTableModel(QAbstractTableModel):
    """One row per completion."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.group: GroupSample | None = None

    def show_group(self, group: GroupSample | None) -> None:
        """Show another group; the rows stay where they are when the size is the same."""
        same_size = group is not None and self.group is not None and self.rowCount() == len(group.completions)
        if same_size:
            self.group = group
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, ADVANTAGE))
            return
        self.beginResetModel()
        self.group = group
        self.endResetModel()

    def completion(self, row: int) -> CompletionSample | None:
        """The completion of a row, None outside."""
        if self.group is None or not 0 <= row < len(self.group.completions):
            return None
        return self.group.completions[row]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  # Qt's own default
        """The size of the group."""
        return 0 if parent.isValid() or self.group is None else len(self.group.completions)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  # Qt's own default
        """Text, reward, advantage."""
        return 0 if parent.isValid() else len(_HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Name and definition of a column."""
        return heading(section, orientation, role, _HEADERS, _TIPS, _alignment)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Text of a completion, numbers for the bars, and words for screen readers."""
        completion = self.completion(index.row())
        if completion is None:
            return None
        match role, index.column():
            case Qt.ItemDataRole.DisplayRole, 0:
                return one_line(completion.text)
            case Qt.ItemDataRole.ToolTipRole, 0:
                return plain_tooltip(completion.text)
            case Qt.ItemDataRole.ToolTipRole, 1:
                return reward_words(completion)
            case Qt.ItemDataRole.AccessibleTextRole, 1:
                return f"reward {number(completion.reward)}"
            case Qt.ItemDataRole.AccessibleTextRole, 2:
                return f"advantage {number(completion.advantage, sign=True)}"
            case _, 1 if role == VALUE_ROLE:
                return completion.reward
            case _, 2 if role == VALUE_ROLE:
                return completion.advantage
            case _:
                return None


def reward_words(completion: CompletionSample) -> str:
    """The reward by source, as the sources gave it: exact 1.00, length no opinion."""
    parts = (f"{source} {'no opinion' if value is None else number(value)}" for source, value in completion.rewards)
    return f"{number(completion.reward)} in all; before weights: {', '.join(parts)}"


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if column == TEXT else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
