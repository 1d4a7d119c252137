"""What the Runs view asks: a name, tags, notes; and the bin."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from grpo_gui.store.records import NoteRecord
from grpo_gui.store.records_runs import BinnedRun
from grpo_gui.ui import theme
from grpo_gui.ui.formatting import count
from grpo_gui.ui.models.visible_text import one_line
from grpo_gui.ui.run_text import start_time
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.labels import label

_LONGEST_NAME = 200
_TWO_LINES = 42  # pixels


class AskText(QDialog):
    """One line of text under a sentence."""

    def __init__(
        self, parent: QWidget, title: str, sentence: str, text: str, action: str, *, may_be_empty: bool
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setMinimumWidth(theme.px(420))
        self.field = QLineEdit(text)
        self.field.setAccessibleName(title)
        self.field.setMaxLength(_LONGEST_NAME)
        self.field.selectAll()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.act = buttons.addButton(action, QDialogButtonBox.ButtonRole.AcceptRole)
        self.act.setProperty("look", "primary")
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(label(title, "cardtitle"))
        column.addWidget(label(sentence, "label", wrap=True))
        column.addWidget(self.field)
        column.addWidget(buttons)
        self.field.textChanged.connect(lambda text: self.act.setEnabled(may_be_empty or bool(text.strip())))

    @property
    def text(self) -> str:
        """What was typed, without blanks around it."""
        return self.field.text().strip()


def tags_of(text: str) -> tuple[str, ...]:
    """The tags in a text, separated by commas, each once."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


class NotesDialog(QDialog):
    """The notes of a run; `added` and `removed` as soon as they are."""

    added = Signal(str)
    removed = Signal(int)  # note id

    def __init__(self, parent: QWidget, title: str, notes: Sequence[NoteRecord]) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"Notes of {title}")
        self.setMinimumSize(theme.px(480), theme.px(320))
        self.list = QListWidget()
        _wrap(self.list, "Notes")
        self.field = QLineEdit()
        self.field.setPlaceholderText("Write a note and press Enter")
        self.field.setAccessibleName("New note")
        self.remove = button("Delete note", "trash", tooltip="Delete the selected note.")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setAutoDefault(False)
        self.remove.setAutoDefault(False)
        buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.addWidget(self.remove)
        row.addWidget(buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(label(f"Notes of {title}", "cardtitle"))
        column.addWidget(self.list, 1)
        column.addWidget(self.field)
        column.addLayout(row)
        self.field.returnPressed.connect(self._add)
        self.remove.clicked.connect(self._remove)
        self.list.itemSelectionChanged.connect(lambda: self.remove.setEnabled(bool(self.list.selectedItems())))
        self.show_notes(notes)
        self.field.setFocus()

    def show_notes(self, notes: Sequence[NoteRecord]) -> None:
        """List these notes."""
        self.list.clear()
        for note in notes:
            item = QListWidgetItem(
                f"step {count(note.step)} \u00b7 {start_time(note.created_s)}\n{one_line(note.text)}"
            )
            item.setData(Qt.ItemDataRole.UserRole, note.id)
            self.list.addItem(item)
        self.remove.setEnabled(False)

    def _add(self) -> None:
        text = self.field.text().strip()
        if text:
            self.field.clear()
            self.added.emit(text)

    def _remove(self) -> None:
        for item in self.list.selectedItems():
            self.removed.emit(item.data(Qt.ItemDataRole.UserRole))


class BinDialog(QDialog):
    """The runs in the bin: take them back, or delete all of them for good."""

    restored = Signal(object)  # list[int]: run ids
    emptied = Signal()

    def __init__(self, parent: QWidget, runs: Sequence[BinnedRun]) -> None:
        super().__init__(parent)
        self.setWindowTitle("Bin")
        self.setMinimumSize(theme.px(520), theme.px(340))
        self.runs = tuple(runs)
        self.sentence = label("", "label", wrap=True)
        self.list = QListWidget()
        _wrap(self.list, "Runs in the bin")
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.take_back = button("Take back", "restore", tooltip="Put the selected runs back into the list.")
        self.empty = button("Empty bin", "trash", tooltip="Delete these runs with their snapshots for good.")
        for one in (self.take_back, self.empty):
            one.setAutoDefault(False)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.addWidget(self.take_back)
        row.addWidget(self.empty)
        row.addStretch(1)
        row.addWidget(buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(label("Bin", "cardtitle"))
        column.addWidget(self.sentence)
        column.addWidget(self.list, 1)
        column.addLayout(row)
        self._fill()
        self.list.itemSelectionChanged.connect(self._show_selection)
        self.take_back.clicked.connect(self._restore)
        self.empty.clicked.connect(self._empty)
        self._show_selection()

    def _fill(self) -> None:
        for run in self.runs:
            size = f"{count(run.steps_done)} steps, {count(run.completions)} completions"
            words = f"{one_line(run.name)} \u00b7 seed {run.seed}\n{size}"
            item = QListWidgetItem(words + (", being deleted" if run.unfinished else ""))
            item.setData(Qt.ItemDataRole.UserRole, run.id)
            item.setSizeHint(QSize(0, theme.px(_TWO_LINES)))  # letters of another script may be higher
            if run.unfinished:
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsSelectable)
            self.list.addItem(item)
        self.sentence.setText(
            "Runs in the bin keep their samples and snapshots until it is emptied."
            if self.runs
            else "The bin is empty. Runs that you delete come here first."
        )
        self.empty.setEnabled(bool(self.runs))

    def _show_selection(self) -> None:
        self.take_back.setEnabled(bool(self.list.selectedItems()))

    def _restore(self) -> None:
        self.restored.emit([item.data(Qt.ItemDataRole.UserRole) for item in self.list.selectedItems()])
        self.accept()

    def _empty(self) -> None:
        self.emptied.emit()
        self.accept()


def _wrap(items: QListWidget, name: str) -> None:
    """Let the texts of a list run over several lines."""
    items.setAccessibleName(name)
    items.setWordWrap(True)
    items.setTextElideMode(Qt.TextElideMode.ElideNone)
    items.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    items.setResizeMode(QListWidget.ResizeMode.Adjust)
