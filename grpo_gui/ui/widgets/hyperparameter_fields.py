"""Change while it runs: a field per hyperparameter, with the old value beside an edited one."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from grpo_gui.commands import SetHyperparameters
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui import theme
from grpo_gui.ui.models.hyperparameters import HYPERPARAMETERS, Hyperparameter
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.labels import ElidedLabel, label, mono, restyle

_FIELD_WIDTH = 76


class HyperparameterFields(QWidget):
    """Fields for the values in force. `asked` gives the command when the user applies edited ones."""

    asked = Signal(object)  # SetHyperparameters

    def __init__(self) -> None:
        super().__init__()
        self._config = TrainConfig()
        self._next_step = 1
        self.fields = {name: HyperparameterField(entry) for name, entry in HYPERPARAMETERS.items()}
        self.apply = button("Apply at next step", primary=True, tooltip="Use the edited values from that step on.")
        self.revert = button("Revert", tooltip="Take the edits back.")
        self.apply.clicked.connect(self.apply_edits)
        self.revert.clicked.connect(self.revert_edits)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for field in self.fields.values():
            column.addWidget(field)
            field.edited.connect(self._refresh)
            field.entered.connect(self.apply_edits)
        row = QHBoxLayout()
        row.setContentsMargins(0, 4, 0, 0)
        row.addWidget(self.revert)
        row.addWidget(self.apply, 1)
        column.addLayout(row)
        self._refresh()

    def set_values(self, config: TrainConfig, values: dict[str, float | None]) -> None:
        """Take the run's config and the values in force; edits stay unless they are now in force."""
        self._config = config
        for name, field in self.fields.items():
            field.set_value(config, values[name])
        self._refresh()

    def set_next_step(self, step: int) -> None:
        """The step at which an edit would take effect."""
        if step != self._next_step:
            self._next_step = step
            self._refresh()

    def apply_edits(self) -> None:
        """Hand the edited values out, if all of them can be used."""
        if self.apply.isEnabled():
            edits = {name: field.parsed for name, field in self.fields.items() if field.is_edited}
            for name, field in self.fields.items():
                if name in edits:
                    field.mark_asked()
            resets = "epsilon_high" in edits and edits["epsilon_high"] is None
            self.asked.emit(SetHyperparameters(**edits, resets_epsilon_high=resets))
            self._refresh()

    def revert_edits(self) -> None:
        """Show the values in force again."""
        for field in self.fields.values():
            field.revert()
        self._refresh()

    def _refresh(self) -> None:
        edited = [field for field in self.fields.values() if field.is_edited]
        good = all(field.problem is None for field in self.fields.values())
        self.revert.setEnabled(any(field.differs for field in self.fields.values()))
        self.apply.setEnabled(self.isEnabled() and bool(edited) and good)
        self.apply.setText(f"Apply at step {self._next_step}" if edited else "Apply at next step")


class HyperparameterField(QWidget):
    """Label, old value when edited, field, and the sentence of a bad value below."""

    edited = Signal()
    entered = Signal()

    def __init__(self, entry: Hyperparameter) -> None:
        super().__init__()
        self._entry = entry
        self._config = TrainConfig()
        self._value: float | None = None  # in force
        self._asked: str | None = None  # handed out, not yet in force
        self.parsed: float | None = None
        self.problem: str | None = None
        self.old = mono("", 11, "hint")
        self.line = _NumberLine(entry)
        self.line.setAccessibleName(entry.label)
        self.sentence = label("", "error", wrap=True)
        self._lay_out()
        self.setToolTip(entry.tooltip)
        self.line.textChanged.connect(self._text_changed)
        self.line.returnPressed.connect(self.entered)

    @property
    def differs(self) -> bool:
        """True while the field holds something else than the value in force."""
        return self.line.text().strip() != self._entry.text(self._value)

    @property
    def is_edited(self) -> bool:
        """True while an edit waits to be applied."""
        return self.differs and self.line.text() != self._asked

    def set_value(self, config: TrainConfig, value: float | None) -> None:
        """Take the value in force; a field that was not edited follows it."""
        followed = not self.differs or self.line.text() == self._asked
        self._config, self._value = config, value
        if self._entry.name == "epsilon_high":
            self.line.setPlaceholderText(self._entry.text(config.epsilon))
        if followed:
            self._asked = None
            self.line.setText(self._entry.text(value))
        self._text_changed()

    def mark_asked(self) -> None:
        """The edit was handed out: it is no edit any more, and is shown until it is in force."""
        self._asked = self.line.text()
        self._text_changed()

    def revert(self) -> None:
        """Show the value in force."""
        self._asked = None
        self.line.setText(self._entry.text(self._value))

    def _text_changed(self) -> None:
        try:
            self.parsed = self._entry.parse(self.line.text())
            self.problem = self._problem()
        except ValueError:
            self.parsed, self.problem = None, f"{self._entry.label} must be a number, such as 0.2 or 3e-4."
        self.sentence.setText(self.problem or "")
        self.sentence.setVisible(self.problem is not None)
        before = self._entry.text(self._value) or self.line.placeholderText()
        self.old.setText(f"{before} \u2192" if self.differs else "")
        state = "bad" if self.problem else "edited" if self.is_edited else ""
        if self.line.property("state") != state:
            self.line.setProperty("state", state)
            restyle(self.line)
        self.edited.emit()

    def _problem(self) -> str | None:
        if self.parsed is None and self._entry.name == "epsilon_high":
            return None  # the same as epsilon
        if self.parsed is None:
            return f"{self._entry.label} needs a number."
        return self._entry.problem(self._config, self.parsed)

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(2)
        grid.addWidget(ElidedLabel(self._entry.label, "label"), 0, 0)
        grid.addWidget(self.old, 0, 1)
        grid.addWidget(self.line, 0, 2)
        grid.addWidget(self.sentence, 1, 0, 1, 3)
        grid.setColumnStretch(0, 1)
        self.sentence.hide()


class _NumberLine(QLineEdit):
    """A monospace field in which Up and Down move the number."""

    def __init__(self, entry: Hyperparameter) -> None:
        super().__init__()
        self._entry = entry
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        theme.follow(self, self._restyle)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Multiply or add by Up and Down."""
        direction = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()))
        if direction is None:
            super().keyPressEvent(event)
            return
        try:
            value = self._entry.parse(self.text() or self.placeholderText())
        except ValueError:
            return
        if value is not None:
            self.setText(self._entry.text(self._entry.moved(value, direction)))

    def _restyle(self) -> None:
        self.setFont(theme.font(12, mono=True))
        self.setFixedWidth(theme.px(_FIELD_WIDTH))
