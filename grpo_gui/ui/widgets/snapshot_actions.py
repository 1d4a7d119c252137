"""What can be done with a snapshot: resume, branch, export, pin, show its folder, move it to the trash, keep fewer."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QFile, QObject, Signal
from PySide6.QtWidgets import QDialog, QMessageBox, QWidget

from grpo_gui.errors import BadInputError, SnapshotError
from grpo_gui.snapshots.keeping import KeepRule, set_pinned, write_rule
from grpo_gui.store.reader import StoreReader
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.validation import config_from_json
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.engine import Writer
from grpo_gui.ui.models.branch_point import BranchPoint
from grpo_gui.ui.models.snapshot_row import FileState, SnapshotRow
from grpo_gui.ui.models.snapshot_shelf import SnapshotShelf
from grpo_gui.ui.opening import open_folder
from grpo_gui.ui.run_text import run_title
from grpo_gui.ui.snapshot_engine import SnapshotEngine
from grpo_gui.ui.widgets.snapshot_dialogs import ExportDialog, KeepDialog, ResumeDialog
from grpo_gui.ui.workspace import Workspace

USABLE = (FileState.VERIFIED, FileState.CHECKING)


class SnapshotActions(QObject):
    """Asks where it must, and works beside the GUI thread. `told` gives a sentence about what was done."""

    told = Signal(str, object)  # sentence, folder to show or None
    reveal: Callable[[Path], None]

    def __init__(self, workspace: Workspace, shelf: SnapshotShelf, engine: SnapshotEngine, parent: QWidget) -> None:
        super().__init__(parent)
        self._workspace, self._shelf, self._engine, self._window = workspace, shelf, engine, parent
        self.reveal = open_folder

    def against_resume(self, row: SnapshotRow | None) -> str:
        """Why the run cannot go on from a snapshot, as a sentence; empty when it can."""
        if row is None or row.is_base:
            return "Choose a snapshot; from the base model start a new run."
        if row.files not in USABLE:
            return row.problem
        if not row.has_training_state:
            return "It was made without its training state, so the run cannot go on from it exactly; branch from it."
        if row.superseded:
            return "It belongs to steps that were replaced; branch from it."
        run = self._workspace.run
        if run is not None and run.status.is_active:
            return "The run is training; stop it first."
        return self._busy()

    def against_branch(self, row: SnapshotRow | None) -> str:
        """Why no branch can begin in a snapshot, as a sentence; empty when it can."""
        if row is None or row.is_base:
            return "Choose a snapshot; from the base model start a new run."
        return row.problem if row.files not in USABLE else ""

    def against_export(self, row: SnapshotRow | None) -> str:
        """Why a snapshot cannot be exported, as a sentence; empty when it can."""
        if row is None or row.is_base:
            return "The base model is a folder of its own already; choose a snapshot."
        return row.problem if row.files not in USABLE else ""

    def resume(self, row: SnapshotRow) -> None:
        """Go on with the run from a snapshot."""
        run, config = self._workspace.run, self._workspace.selected_config()
        if run is None or config is None:
            return
        dialog = ResumeDialog(self._window, row, run.steps_done, config.steps)
        if self._accepted(dialog):
            self._workspace.resume_run(run, snapshot=row.path, steps=dialog.steps.value())
            self._workspace.view_requested.emit("train")
        dialog.deleteLater()

    def branch(self, row: SnapshotRow) -> None:
        """Open the form for a run that begins in a snapshot."""
        run = self._workspace.run
        if run is None or row.path is None:
            return
        try:
            config: TrainConfig = config_from_json(run.config)
        except BadInputError as error:
            self._workspace.problem.emit(str(error), "")
            return
        point = BranchPoint(run.id, run_title(run), row.step, row.path, row.has_training_state, config)
        self._workspace.branch_requested.emit(point)

    def export(self, row: SnapshotRow) -> None:
        """Ask for a folder and write the export."""
        run = self._workspace.run
        if run is None or row.path is None:
            return
        dialog = ExportDialog(self._window, row, run.name)
        if self._accepted(dialog):
            self.told.emit(f"Exporting {row.title}\u2026", None)
            self._engine.export(
                row.path, dialog.target, str(dialog.dtype.currentData()), partial(self._exported, row), self._failed
            )
        dialog.deleteLater()

    def toggle_pin(self, row: SnapshotRow) -> None:
        """Pin a snapshot, or let the keep-rule decide about it again."""
        path, pinned = row.path, not row.pinned
        if path is not None:
            self._workspace.read(lambda _: set_pinned(path, pinned), self._done, self._failed)

    def show_folder(self, row: SnapshotRow) -> None:
        """Show a snapshot's folder in the file manager."""
        if row.path is not None and row.path.is_dir():
            self.reveal(row.path)

    def delete(self, row: SnapshotRow) -> None:
        """Ask, then move a snapshot to the trash."""
        if row.is_base:
            return
        pinned = " It is pinned." if row.pinned else ""
        if self.confirm(f"Move the snapshot of step {row.step} to the trash?{pinned}", "Move to trash"):
            self._remove([row])

    def change_rule(self) -> None:
        """Ask for another keep-rule and apply it."""
        shelf = self._shelf.shelf
        if shelf is None:
            return
        dialog = KeepDialog(self._window, shelf)
        if self._accepted(dialog):
            rule, going = dialog.rule, dialog.going()
            self._workspace.read(partial(_write_rule, folder=shelf.folder, rule=rule), self._done, self._failed)
            if going:
                self._remove(going)
        dialog.deleteLater()

    def confirm(self, sentence: str, action: str) -> bool:
        """Ask a question that has no safe answer but Cancel."""
        box = QMessageBox(QMessageBox.Icon.Question, "Snapshots", sentence, parent=self._window)
        yes = box.addButton(action, QMessageBox.ButtonRole.DestructiveRole)
        cancel = box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(cancel)
        box.exec()
        return box.clickedButton() is yes

    def _accepted(self, dialog: QDialog) -> bool:
        return dialog.exec() == QDialog.DialogCode.Accepted

    def _busy(self) -> str:
        if self._workspace.is_training or self._workspace.is_starting:
            return "Another run is training in this window; stop it, or move it to the background first."
        return ""

    def _remove(self, rows: Sequence[SnapshotRow]) -> None:
        self._workspace.write(partial(_to_trash, rows=tuple(rows)), self._removed, self._failed)

    def _removed(self, steps: list[int]) -> None:
        self.told.emit(f"Moved to the trash: step {', '.join(map(str, steps))}.", None)
        self._shelf.refresh()

    def _exported(self, row: SnapshotRow, target: Path) -> None:
        self.told.emit(f"Exported {row.title} to {target}", target)

    def _done(self, _: None) -> None:
        self._shelf.refresh()

    def _failed(self, failure: TaskFailure) -> None:
        self.told.emit("", None)
        self._shelf.refresh()
        self._workspace.problem.emit(failure.message, failure.traceback)


def _write_rule(_: StoreReader, folder: Path, rule: KeepRule) -> None:
    write_rule(folder, rule)


def _to_trash(writer: Writer, rows: Sequence[SnapshotRow]) -> list[int]:
    """Move folders to the system's trash and note it; return the steps."""
    for row in rows:
        if row.path is None or row.snapshot_id is None:
            continue
        if row.path.exists() and not QFile.moveToTrash(str(row.path)):
            raise SnapshotError(
                f"{row.path} cannot be moved to the trash; delete this folder in the file manager, then delete it here."
            )
        writer.remove_snapshot(row.snapshot_id)
    return [row.step for row in rows]
