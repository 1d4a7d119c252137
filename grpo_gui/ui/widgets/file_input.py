"""A path field with a button that opens the file dialog."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.config_field import LabelledInput
from grpo_gui.ui.widgets.labels import restyle


class FileInput(QWidget):
    """`edited` gives the path after typing or choosing."""

    edited = Signal(str)

    def __init__(self, text: str, tooltip: str, file_filter: str) -> None:
        super().__init__()
        self._filter = file_filter
        self.line = QLineEdit()
        self.line.setAccessibleName(text)
        self.browse = button("Browse\u2026", "folder", tooltip=f"Choose the {text.lower()}.")
        pair = QWidget()
        row = QHBoxLayout(pair)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.line, 1)
        row.addWidget(self.browse)
        self.input = LabelledInput(text, tooltip, pair)
        self.input.name.setBuddy(self.line)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.input)
        self.line.textEdited.connect(self.edited)
        self.browse.clicked.connect(self._browse)

    def set_path(self, path: str) -> None:
        """Show a path without `edited`."""
        if self.line.text() != path:
            self.line.setText(path)

    def show_problem(self, sentence: str) -> None:
        """Show what is wrong below the field."""
        self.input.show_problem(sentence)
        state = "bad" if sentence else ""
        if self.line.property("state") != state:
            self.line.setProperty("state", state)
            restyle(self.line)

    def _browse(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, self.input.name.text(), self.line.text(), self._filter)
        if path:
            self.line.setText(path)
            self.edited.emit(path)
