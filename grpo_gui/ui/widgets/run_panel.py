"""The left panel of the Train view: the run's settings, what may be changed, what was changed, and notes."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from grpo_gui.store.records import ChangeRecord, NoteRecord, RunRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.models.completions_model import plain_tooltip
from grpo_gui.ui.models.hyperparameters import change_text, current_values
from grpo_gui.ui.models.run_facts import Fact, facts
from grpo_gui.ui.run_text import PILL_KINDS
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.hyperparameter_fields import HyperparameterFields
from grpo_gui.ui.widgets.labels import ElidedLabel, Pill, hline, label

_LEAST_WIDTH = 200


class RunPanel(QScrollArea):
    """Sections below each other; scrolls when the window is low."""

    step_chosen = Signal(int)  # of a change or a note
    note_written = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("runpanel")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(theme.px(_LEAST_WIDTH))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        page = QWidget()
        page.setProperty("look", "page")
        self._column = QVBoxLayout(page)
        self._column.setContentsMargins(tokens.PAD, tokens.PAD, tokens.PAD, tokens.PAD)
        self._column.setSpacing(8)
        self.status = Pill()
        self._facts = _FactTable()
        self.about = label("", "small", wrap=True)  # how complete a run made elsewhere is, or why it stands still
        self.hyperparameters = HyperparameterFields()
        self.changes, self.notes = _StepList(), _StepList()
        self.note_field = QLineEdit()
        self._lay_out()
        self.setWidget(page)
        for steps in (self.changes, self.notes):
            steps.step_chosen.connect(self.step_chosen)
        self.note_field.returnPressed.connect(self._note_entered)

    def show_run(self, run: RunRecord, config: TrainConfig | None, *, can_change: bool) -> None:
        """Show a run's settings and status; `can_change` while a trainer listens."""
        self.status.set_state(run.status.value, PILL_KINDS[run.status])
        self.status.setToolTip(run.message)
        self.status.setAccessibleName(f"Status: {run.status.value}")
        self._facts.show_facts(facts(run, config))
        is_outside = run.origin in ("imported", "followed")
        self.about.setText(run.message if is_outside else "")
        self.about.setVisible(bool(self.about.text()))
        self._steering.setVisible(can_change and config is not None)
        self.hyperparameters.set_next_step(run.steps_done + 1)

    def show_changes(self, config: TrainConfig | None, changes: Sequence[ChangeRecord]) -> None:
        """Show what was changed, and take the values in force."""
        self.changes.show_steps([(change.step, change_text(change)) for change in changes])
        self._changes_section.setVisible(bool(changes))
        if config is not None:
            self.hyperparameters.set_values(config, current_values(config, changes))

    def show_notes(self, notes: Sequence[NoteRecord]) -> None:
        """Show the user's notes."""
        self.notes.show_steps([(note.step, note.text) for note in notes])

    # --- inside

    def _lay_out(self) -> None:
        title = QHBoxLayout()
        title.addWidget(label("Run", "title"), 1)
        title.addWidget(self.status)
        self._column.addLayout(title)
        self._column.addWidget(self._facts)
        self._column.addWidget(self.about)
        self._steering = _section("Change while it runs", self.hyperparameters)
        self._changes_section = _section("Changes", self.changes)
        self.note_field.setPlaceholderText("Note at this step")
        self.note_field.setAccessibleName("Note at this step")
        self.note_field.setToolTip("Enter keeps the note at the newest step, or at the step that is held.")
        notes = _section("Notes", self.notes, self.note_field)
        for section in (self._steering, self._changes_section, notes):
            self._column.addWidget(section)
        self._column.addStretch(1)

    def _note_entered(self) -> None:
        text = self.note_field.text().strip()
        if text:
            self.note_field.clear()
            self.note_written.emit(text)


class _FactTable(QWidget):
    """Rows of a name and a value."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[tuple[QLabel, ElidedLabel]] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)

    def show_facts(self, shown: Sequence[Fact]) -> None:
        """Show these rows; what is the same stays untouched."""
        while len(self._rows) < len(shown):
            name, value = label("", "label"), ElidedLabel()
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._grid.addWidget(name, len(self._rows), 0)
            self._grid.addWidget(value, len(self._rows), 1)
            self._rows.append((name, value))
        for place, (name, value) in enumerate(self._rows):
            is_used = place < len(shown)
            name.setVisible(is_used)
            value.setVisible(is_used)
            if is_used and (name.text(), value.text()) != (shown[place].name, shown[place].value):
                name.setText(shown[place].name)
                value.setText(shown[place].value)
                name.setToolTip(shown[place].tooltip)
                value.setToolTip(plain_tooltip(f"{shown[place].value}\n{shown[place].tooltip}"))


class _StepList(QWidget):
    """Lines of a step, which is a link to it, and a text."""

    step_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._steps: list[tuple[int, str]] = []
        self._rows = QGridLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setHorizontalSpacing(8)
        self._rows.setVerticalSpacing(2)
        self._rows.setColumnStretch(1, 1)
        self.hide()

    def show_steps(self, steps: list[tuple[int, str]]) -> None:
        """Show other lines."""
        if steps == self._steps:
            return
        self._steps = steps
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for row, (step, text) in enumerate(steps):
            jump = link(f"step {step}", tooltip="Show this step in the plots.")
            jump.clicked.connect(lambda _, step=step: self.step_chosen.emit(step))
            words = ElidedLabel(text)
            words.setToolTip(plain_tooltip(text))
            self._rows.addWidget(jump, row, 0)
            self._rows.addWidget(words, row, 1)
        self.setVisible(bool(steps))


def _section(title: str, *widgets: QWidget) -> QWidget:
    section = QWidget()
    column = QVBoxLayout(section)
    column.setContentsMargins(0, 4, 0, 0)
    column.setSpacing(6)
    column.addWidget(hline())
    column.addSpacing(4)
    column.addWidget(label(title, "title"))
    for widget in widgets:
        column.addWidget(widget)
    return section
