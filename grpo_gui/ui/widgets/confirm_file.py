"""Ask before Python of the user's is run: the path, the hash, and the whole text to look at."""

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from grpo_gui.errors import GrpoGuiError
from grpo_gui.tasks.reward_file import confirm, read_source, sha256_of


class ConfirmFile(QMessageBox):
    """A question about one file; `accepted` after it was confirmed, as it was when the question was made."""

    def __init__(self, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._path = path
        source = read_source(path)
        self.sha256 = sha256_of(source)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setIcon(QMessageBox.Icon.Question)
        self.setWindowTitle("Run this file?")
        self.setText(f"{path}\nholds Python that will be run on this machine, with your rights.")
        self.setInformativeText(f"SHA-256 {self.sha256}\nYou are asked again when the file changes.")
        self.setDetailedText(source.decode("utf-8", "replace"))
        self.run = self.addButton("Run its functions", QMessageBox.ButtonRole.AcceptRole)
        self.addButton(QMessageBox.StandardButton.Cancel)
        self.setDefaultButton(QMessageBox.StandardButton.Cancel)

    def confirm(self) -> None:
        """Remember the confirmation, unless the file has changed while the question was open.

        Raises:
            GrpoGuiError: the file has changed or the confirmation cannot be kept.
        """
        if sha256_of(read_source(self._path)) != self.sha256:
            raise GrpoGuiError(f"{self._path} has changed while you looked at it; look again.")
        confirm(self._path)


def ask_for(paths: Iterable[Path], parent: QWidget | None) -> str | None:
    """Ask about each file in turn; None when all were confirmed, else a sentence (empty when the user said no)."""
    for path in paths:
        try:
            question = ConfirmFile(path, parent)
            question.exec()
            if question.clickedButton() is not question.run:
                return ""
            question.confirm()
        except GrpoGuiError as error:
            return str(error)
    return None
