"""A dialog that asks before something is done: title, fields, a sentence, and a button that says what follows."""

from itertools import pairwise

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QVBoxLayout, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.widgets.labels import label

_NAME_WIDTH = 110


class QuestionDialog(QDialog):
    """A sentence, a form, and two buttons of which the first says what it does."""

    def __init__(self, parent: QWidget, title: str, action: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setMinimumWidth(theme.px(460))
        self.form = QVBoxLayout()
        self.form.setSpacing(8)
        self.sentence = label("", "label", wrap=True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.act = buttons.addButton(action, QDialogButtonBox.ButtonRole.AcceptRole)
        self.act.setProperty("look", "primary")
        self._fields: list[QWidget] = []
        self._buttons = buttons
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(label(title, "cardtitle"))
        column.addLayout(self.form)
        column.addWidget(self.sentence)
        column.addWidget(buttons)

    def add_row(self, name: str, *widgets: QWidget) -> None:
        """Add a named line."""
        row = QHBoxLayout()
        row.setSpacing(8)
        text = label(name, "label")
        text.setFixedWidth(theme.px(_NAME_WIDTH))
        row.addWidget(text)
        for place, widget in enumerate(widgets):
            row.addWidget(widget, 0 if place else 1)
        self.form.addLayout(row)
        self._fields += widgets

    def showEvent(self, event: QShowEvent) -> None:
        """Begin in the first field; Tab goes down the fields, then to the buttons."""
        super().showEvent(event)
        for first, second in pairwise([*self._fields, *self._buttons.buttons()]):
            QWidget.setTabOrder(first, second)
        if self._fields:
            self._fields[0].setFocus()
