"""One setting of the run form: label and hint over an input, its problem as a sentence below."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.models.config_fields import ConfigField
from grpo_gui.ui.widgets.labels import label, restyle


class LabelledInput(QWidget):
    """An input under its label; `hint` stands at the right of the label, a problem below the input."""

    def __init__(self, text: str, tooltip: str, field: QWidget, hint: str = "") -> None:
        super().__init__()
        self.field = field
        self.name = label(text, "label", tooltip)
        self.hint = label(hint, "hint")
        self.problem = label("", "error", wrap=True)
        self.problem.hide()
        self.name.setBuddy(field)
        field.setToolTip(tooltip)
        field.setAccessibleName(text)
        field.setAccessibleDescription(tooltip)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.name)
        head.addStretch(1)
        head.addWidget(self.hint)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addLayout(head)
        column.addWidget(field)
        column.addWidget(self.problem)
        column.addStretch(1)
        field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_problem(self, sentence: str) -> None:
        """Show what is wrong below the input, or take it away."""
        if sentence != self.problem.text():
            self.problem.setText(sentence)
            self.problem.setVisible(bool(sentence))
            self.field.setProperty("state", "bad" if sentence else "")
            restyle(self.field)


class ConfigFieldInput(LabelledInput):
    """The input that fits a ConfigField; `edited` gives its text after a change by the user."""

    edited = Signal(str)

    def __init__(self, field: ConfigField) -> None:
        self._line = QLineEdit()
        self._combo = QComboBox()
        self._switch = QCheckBox(field.label)
        chosen: QWidget = {"choice": self._combo, "switch": self._switch}.get(field.kind, self._line)
        super().__init__(field.label, field.tooltip, chosen, field.hint)
        self.kind = field.kind
        if field.kind == "switch":
            self.name.setText(" ")
        theme.follow(self, lambda: self._line.setFont(theme.font(12, mono=True)))
        self._combo.addItems(field.choices)
        self._line.textEdited.connect(self.edited)
        self._combo.activated.connect(lambda: self.edited.emit(self._combo.currentText()))
        self._switch.clicked.connect(lambda: self.edited.emit(self.text()))

    def text(self) -> str:
        """Return what stands in the input."""
        if self.kind == "choice":
            return self._combo.currentText()
        if self.kind == "switch":
            return "true" if self._switch.isChecked() else "false"
        return self._line.text()

    def set_text(self, text: str) -> None:
        """Show a value without `edited`."""
        if self.kind == "choice":
            self._combo.setCurrentText(text)
        elif self.kind == "switch":
            self._switch.setChecked(text == "true")
        elif self._line.text() != text:
            self._line.setText(text)
