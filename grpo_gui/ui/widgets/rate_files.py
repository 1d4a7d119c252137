"""Ratings out and in by mouse: which format, which file, and what came of it."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QMenu, QPushButton, QWidget

from grpo_gui.rating.files import EVENTS, LABELS, PAIRS
from grpo_gui.store.reader import StoreReader
from grpo_gui.training.rating_files import Imported, export_ratings, import_ratings
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.engine import Writer
from grpo_gui.ui.models.rating_desk import RatingDesk
from grpo_gui.ui.workspace import Workspace

CHOICES = (
    (EVENTS, "All entries, to import them again", "ratings"),
    (PAIRS, "Preference pairs, as TRL's DPO trainer reads them", "preference-pairs"),
    (LABELS, "Good or bad labels, as TRL's KTO trainer reads them", "labels"),
)
_FILTER = "JSON lines (*.jsonl);;All files (*)"


class RateFiles(QObject):
    """`told` gives a sentence on what was done, and whether it went well; `imported` when the log has grown."""

    told = Signal(str, bool)
    imported = Signal()

    def __init__(self, workspace: Workspace, desk: RatingDesk, parent: QWidget) -> None:
        super().__init__(parent)
        self._workspace, self._desk, self._window = workspace, desk, parent
        self.menu = QMenu(parent)
        for kind, text, name in CHOICES:
            self.menu.addAction(text).triggered.connect(partial(self._ask_where, kind, name))

    def open_menu(self, below: QPushButton) -> None:
        """Offer the formats."""
        self.menu.popup(below.mapToGlobal(below.rect().bottomLeft()))

    def ask_what(self) -> None:
        """Ask for the file to import."""
        path, _ = QFileDialog.getOpenFileName(self._window, "Import ratings", "", _FILTER)
        if path:
            self.import_from(Path(path))

    def export_to(self, kind: str, target: Path) -> None:
        """Write a file beside the GUI thread."""
        run_id = self._desk.run_id

        def work(reader: StoreReader) -> int:
            return export_ratings(reader, run_id, kind, target)

        self._workspace.read(work, partial(self._exported, target), self._failed)

    def import_from(self, source: Path) -> None:
        """Take a file over beside the GUI thread."""
        run_id, rater, database = self._desk.run_id, self._desk.rater, self._workspace.database
        self._workspace.write(
            lambda writer: _import(database, writer, run_id, source, rater), self._taken_over, self._failed
        )

    def _ask_where(self, kind: str, name: str) -> None:
        suggested = f"{name}-run-{self._desk.run_id}.jsonl"
        path, _ = QFileDialog.getSaveFileName(self._window, "Export ratings", suggested, _FILTER)
        if path:
            self.export_to(kind, Path(path))

    def _exported(self, target: Path, count: int) -> None:
        self.told.emit(f"{count} {'line is' if count == 1 else 'lines are'} in {target}.", True)

    def _taken_over(self, imported: Imported) -> None:
        self.told.emit(imported.sentence, True)
        self.imported.emit()

    def _failed(self, failure: TaskFailure) -> None:
        self.told.emit(failure.message, False)


def _import(database: Path, writer: Writer, run_id: int, source: Path, rater: str) -> Imported:
    with StoreReader(database) as reader:
        return import_ratings(reader, writer, run_id, source, rater)
