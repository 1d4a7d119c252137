"""The settings of this user: theme, device, threads, evaluation interval, name as a rater, database."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from grpo_gui.errors import GrpoGuiError
from grpo_gui.paths import default_database
from grpo_gui.settings import Settings, problems
from grpo_gui.ui import theme
from grpo_gui.ui.widgets.file_input import FileInput
from grpo_gui.ui.widgets.labels import label

THEMES = (("system", "As the system"), ("light", "Light"), ("dark", "Dark"))
TOOLTIPS = {
    "theme": "Light, dark, or whatever the system uses at the moment.",
    "device": "Where new runs compute; auto takes the first graphics card for CUDA, else the processor.",
    "threads": "Processor threads that torch may use in new runs. 1 is fastest for small models.",
    "eval_steps": "Steps between two held-out evaluations of new runs; 0 never evaluates.",
    "rater": "The name that is stored with each of your ratings; empty is \u201cme\u201d.",
    "pause_on_broken": (
        "Pauses by itself when a number is not finite or the training breaks one of its own rules, such as advantages "
        "that do not sum to 0. Other findings never pause a run."
    ),
    "database": "The file that keeps all runs; empty is the usual place. It is used from the next start on.",
}


class SettingsDialog(QDialog):
    """Checks while typed; `saved` with the new settings after they were written."""

    saved = Signal(object)

    def __init__(
        self,
        parent: QWidget | None,
        settings: Settings,
        devices: tuple[str, ...],
        write: Callable[[Settings], None],
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self.setMinimumWidth(theme.px(460))
        self._settings, self._write = settings, write
        self.theme_box = QComboBox()
        for value, text in THEMES:
            self.theme_box.addItem(text, value)
        self.theme_box.setCurrentIndex(self.theme_box.findData(settings.theme))
        self.device = QComboBox()
        self.device.addItems([*dict.fromkeys(("auto", "cpu", *devices, settings.device))])
        self.device.setCurrentText(settings.device)
        self.threads = QLineEdit(str(settings.threads))
        self.eval_steps = QLineEdit(str(settings.eval_steps))
        self.rater = QLineEdit(settings.rater)
        self.rater.setPlaceholderText("me")
        self.pause_on_broken = QCheckBox("Pause a run when its training is broken")
        self.pause_on_broken.setChecked(settings.pause_on_broken)
        self.pause_on_broken.setToolTip(TOOLTIPS["pause_on_broken"])
        self.database = FileInput("Database", TOOLTIPS["database"], "Databases (*.db);;All files (*)")
        self.database.set_path(settings.database)
        self.database.line.setPlaceholderText(str(default_database()))
        self.problem = label("", "error", wrap=True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.button(QDialogButtonBox.StandardButton.Save).setProperty("look", "primary")
        self._lay_out()
        self.threads.textEdited.connect(self._check)
        self.eval_steps.textEdited.connect(self._check)
        self.rater.textEdited.connect(self._check)
        self.database.line.textChanged.connect(self._check)
        self.buttons.accepted.connect(self._save)
        self.buttons.rejected.connect(self.reject)

    def edited(self) -> Settings:
        """Return the settings as they stand in the dialog.

        Raises:
            ValueError: with a sentence, when a number cannot be read.
        """
        return replace(
            self._settings,
            theme=str(self.theme_box.currentData()),
            device=self.device.currentText(),
            threads=_whole("Threads", self.threads.text()),
            eval_steps=_whole("The evaluation interval", self.eval_steps.text()),
            pause_on_broken=self.pause_on_broken.isChecked(),
            rater=self.rater.text().strip(),
            database=self.database.line.text().strip(),
        )

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setVerticalSpacing(10)
        rows: tuple[tuple[str, str, QWidget], ...] = (
            ("theme", "Theme", self.theme_box),
            ("device", "Device of new runs", self.device),
            ("threads", "Threads of new runs", self.threads),
            ("eval_steps", "Steps between evaluations", self.eval_steps),
            ("rater", "Your name as a rater", self.rater),
        )
        for name, text, field in rows:
            field.setToolTip(TOOLTIPS[name])
            field.setAccessibleName(text)
            title = QLabel(text)
            title.setToolTip(TOOLTIPS[name])
            form.addRow(title, field)
        column = QVBoxLayout(self)
        column.setSpacing(12)
        column.setContentsMargins(20, 16, 20, 16)
        column.addLayout(form)
        column.addWidget(self.pause_on_broken)
        column.addWidget(self.database)
        column.addWidget(label(TOOLTIPS["database"], "hint", wrap=True))
        column.addWidget(self.problem)
        column.addWidget(self.buttons)
        self.problem.hide()

    def _check(self) -> str:
        try:
            edited = self.edited()
            sentence = next(iter(problems(edited).values()), "") or _database_problem(edited.database)
        except ValueError as error:
            sentence = str(error)
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))
        self.buttons.button(QDialogButtonBox.StandardButton.Save).setEnabled(not sentence)
        return sentence

    def _save(self) -> None:
        if self._check():
            return
        settings = self.edited()
        try:
            self._write(settings)
        except GrpoGuiError as error:
            self.problem.setText(str(error))
            self.problem.show()
            return
        self.saved.emit(settings)
        self.accept()


def _database_problem(text: str) -> str:
    if text and not Path(text).is_absolute():  # it would be another file from every folder that one starts in
        return f"The database must be a whole path from / or a drive on; it is {text}."
    return f"The database {text} is a folder; name a file in it." if text and Path(text).is_dir() else ""


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} must be a whole number; it is {text or 'empty'}.") from None
