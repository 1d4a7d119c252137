"""Asks for a run that was made elsewhere: a file, a folder, or a place on another machine, once or while it goes on."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from grpo_gui.ui import theme
from grpo_gui.ui.widgets.buttons import button, link
from grpo_gui.ui.widgets.labels import ElidedLabel, hline, label

_WHAT = (
    "The output folder of TRL or verl, a TensorBoard folder, or one file: metrics or completions as CSV, JSON lines or "
    "Parquet, trainer_state.json, TensorBoard events, or a database of grpo-gui. Its content decides, not its name."
)
_FILTER = "Runs (*.json *.jsonl *.ndjson *.csv *.parquet *.log *.txt *tfevents* *.db);;All files (*)"
_FOLLOW = "Read on while it is written, until the run ends or the window closes. Following again goes on from there."


class ImportDialog(QDialog):
    """`chosen` brings what was typed or picked, and whether it shall be followed."""

    chosen = Signal(str, bool)
    stop_asked = Signal(str)  # the name of a followed place

    def __init__(self, parent: QWidget, followed: Sequence[str], *, follow: bool) -> None:
        super().__init__(parent)
        self.setWindowTitle("Import or follow a run")
        self.setMinimumWidth(theme.px(560))
        self.field = QLineEdit()
        self.field.setAccessibleName("Folder or file")
        self.field.setPlaceholderText("A folder, a file, or ssh://host/path")
        self.folder = button("Folder\u2026", "folder", tooltip="Choose a folder.")
        self.file = button("File\u2026", "file", tooltip="Choose a file.")
        self.follow = QCheckBox("Keep following while the run goes on")
        self.follow.setToolTip(_FOLLOW)
        self.follow.setChecked(follow)
        self.problem = label("", "error", wrap=True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.act = buttons.addButton("Import", QDialogButtonBox.ButtonRole.AcceptRole)
        self.act.setProperty("look", "primary")
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        self._lay_out(followed, buttons)
        self.field.textChanged.connect(self._check)
        self.follow.toggled.connect(self._check)
        self.folder.clicked.connect(self._choose_folder)
        self.file.clicked.connect(self._choose_file)
        self._check()

    @property
    def place(self) -> str:
        """What was typed, without blanks around it."""
        return self.field.text().strip()

    def _lay_out(self, followed: Sequence[str], buttons: QDialogButtonBox) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.field, 1)
        row.addWidget(self.folder)
        row.addWidget(self.file)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(label("Import or follow a run", "cardtitle"))
        column.addWidget(label(_WHAT, "label", wrap=True))
        column.addLayout(row)
        column.addWidget(self.follow)
        column.addWidget(self.problem)
        if followed:
            column.addWidget(hline())
            column.addWidget(label("This window follows", "title"))
            for name in followed:
                column.addLayout(self._followed_row(name))
        column.addWidget(buttons)

    def _followed_row(self, name: str) -> QHBoxLayout:
        row = QHBoxLayout()
        stop = link("Stop following", tooltip="Read no more of it; what was read stays.")
        stop.setAccessibleName(f"Stop following {name}")
        stop.clicked.connect(lambda: self.stop_asked.emit(name))
        stop.clicked.connect(lambda: stop.setEnabled(False))
        row.addWidget(ElidedLabel(name, "label"), 1)
        row.addWidget(stop)
        return row

    def _check(self) -> None:
        follows = self.follow.isChecked()
        problem = _problem(self.place, follows=follows)
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.act.setText("Follow" if follows else "Import")
        self.act.setEnabled(bool(self.place) and not problem)

    def _accept(self) -> None:
        self.accept()
        self.chosen.emit(self.place, self.follow.isChecked())

    def _start(self) -> str:
        return self.place or str(Path.home())

    def _choose_folder(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, "Choose the folder of a run", self._start())
        if chosen:
            self.field.setText(chosen)

    def _choose_file(self) -> None:
        chosen, _ = QFileDialog.getOpenFileName(self, "Choose a file of a run", self._start(), _FILTER)
        if chosen:
            self.field.setText(chosen)


def _problem(place: str, *, follows: bool) -> str:
    """Why a place cannot be taken; empty where it can. A followed one may come later."""
    if follows or not place:
        return ""
    if "://" in place:
        return "A run on another machine is followed: tick the box above."
    try:
        return "" if Path(place).expanduser().exists() else "There is no such file or folder."
    except (OSError, RuntimeError):
        return "This is no path of a file or folder."
