"""What can be done with runs: rename, tags, notes, archive, bin. Asks where it must, works beside the GUI thread."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QMessageBox, QWidget

from grpo_gui.store.emptying import Emptied, empty_bin
from grpo_gui.store.records import NoteRecord
from grpo_gui.store.records_runs import BinnedRun
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.engine import Writer
from grpo_gui.ui.formatting import count
from grpo_gui.ui.models.background_job import BackgroundJob
from grpo_gui.ui.models.runs_row import RunRow
from grpo_gui.ui.widgets.job_strip import JobStrip
from grpo_gui.ui.widgets.runs_dialogs import AskText, BinDialog, NotesDialog, tags_of
from grpo_gui.ui.workspace import Workspace


class RunsActions(QObject):
    """`changed` when the list must be read again."""

    changed = Signal()

    def __init__(self, workspace: Workspace, strip: JobStrip, parent: QWidget) -> None:
        super().__init__(parent)
        self._workspace, self._strip, self._window = workspace, strip, parent
        self.notes_dialog: NotesDialog | None = None  # while it is open
        self._noted_run = 0

    def do(self, name: str, rows: Sequence[RunRow]) -> None:
        """Do what a button of the list names with the selected runs."""
        if name == "bin":
            self.open_bin()
        elif name == "import":
            self._workspace.import_requested.emit(False)
        elif rows:
            actions: dict[str, Callable[[], None]] = {
                "open": partial(self.open, rows[0]),
                "rename": partial(self.rename, rows[0]),
                "note": partial(self.open_notes, rows[0]),
                "tags": partial(self.tag, rows),
                "archive": partial(self.archive, rows),
                "delete": partial(self.delete, rows),
            }
            actions[name]()

    def open(self, row: RunRow) -> None:
        """Show a run in the Train view."""
        self._workspace.select_run(row.id)
        self._workspace.view_requested.emit("train")

    def rename(self, row: RunRow) -> None:
        """Ask for another name."""
        dialog = AskText(
            self._window,
            "Rename run",
            "The seed is written behind the name.",
            row.run.name,
            "Rename",
            may_be_empty=False,
        )
        if self._accepted(dialog) and dialog.text != row.run.name:
            run_id, name = row.id, dialog.text
            self._write(lambda writer: writer.rename_run(run_id, name))
        dialog.deleteLater()

    def tag(self, rows: Sequence[RunRow]) -> None:
        """Ask for the tags; of several runs the ones that all of them have are offered."""
        common = [tag for tag in rows[0].run.tags if all(tag in row.run.tags for row in rows)]
        others = [tuple(tag for tag in row.run.tags if tag not in common) for row in rows]
        sentence = "Words of your own, separated by commas."
        if any(others):
            sentence += " Tags that not all of the selected runs have stay as they are."
        dialog = AskText(self._window, "Tags", sentence, ", ".join(common), "Set tags", may_be_empty=True)
        if self._accepted(dialog):
            tags = tags_of(dialog.text)
            new = {row.id: tuple(dict.fromkeys((*tags, *more))) for row, more in zip(rows, others, strict=True)}
            self._write(partial(_set_tags, tags=new))
        dialog.deleteLater()

    def archive(self, rows: Sequence[RunRow]) -> None:
        """Put runs into the archive; when all of them are there, bring them back."""
        archived = not all(row.run.archived for row in rows)
        ids = [row.id for row in rows]
        self._write(partial(_archive, run_ids=ids, archived=archived))

    # --- notes

    def open_notes(self, row: RunRow) -> None:
        """Show and edit the notes of a run."""
        dialog = NotesDialog(self._window, row.title, row.notes)
        self.notes_dialog, self._noted_run = dialog, row.id
        run_id, step = row.id, row.run.steps_done
        dialog.added.connect(lambda text: self._write_note(lambda writer: writer.add_note(run_id, step, text)))
        dialog.removed.connect(lambda note_id: self._write_note(lambda writer: writer.remove_note(note_id)))
        self._accepted(dialog)
        self.notes_dialog = None
        dialog.deleteLater()

    def _write_note(self, function: Callable[[Writer], object]) -> None:
        self._workspace.write(function, self._noted, self._failed)

    def _noted(self, _: object) -> None:
        run_id = self._noted_run
        self._workspace.read(lambda reader: reader.notes(run_id), self._show_notes, key="runs.notes")
        self.changed.emit()
        self._workspace.store_grew.emit()

    def _show_notes(self, notes: tuple[NoteRecord, ...]) -> None:
        if self.notes_dialog is not None:
            self.notes_dialog.show_notes(notes)

    # --- bin

    def delete(self, rows: Sequence[RunRow]) -> None:
        """Ask, then move runs to the bin; one that trains is refused."""
        training = [row for row in rows if row.run.status.is_active]
        if training:
            self._strip.tell(f"{training[0].title} is {training[0].run.status.value}; stop it before you delete it.")
            return
        what = rows[0].title if len(rows) == 1 else f"{len(rows)} runs"
        completions = sum(row.run.completions for row in rows)
        if self.confirm(
            f"Move {what} with {count(completions)} completions to the bin?",
            "You can take it back until the bin is emptied.",
            "Move to bin",
        ):
            ids = [row.id for row in rows]
            self._workspace.write(partial(_to_bin, run_ids=ids), self._binned, self._failed)

    def _binned(self, run_ids: list[int]) -> None:
        if self._workspace.run is not None and self._workspace.run.id in run_ids:
            self._workspace.select_run(None)
        some = "1 run is" if len(run_ids) == 1 else f"{len(run_ids)} runs are"
        self._strip.tell(f"{some} in the bin.", "Take back", lambda: self.restore(run_ids))
        self._done(None)

    def restore(self, run_ids: Sequence[int]) -> None:
        """Take runs back out of the bin."""
        self._strip.hide()
        self._write(partial(_restore, run_ids=tuple(run_ids)))

    def open_bin(self) -> None:
        """Show what is in the bin."""
        self._workspace.read(lambda reader: reader.binned_runs(), self._show_bin, self._failed)

    def _show_bin(self, runs: tuple[BinnedRun, ...]) -> None:
        dialog = BinDialog(self._window, runs)
        dialog.restored.connect(self.restore)
        dialog.emptied.connect(lambda: self._ask_and_empty(runs))
        self._accepted(dialog)
        dialog.deleteLater()

    def _ask_and_empty(self, runs: tuple[BinnedRun, ...]) -> None:
        some = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
        if not self.confirm(
            f"Delete {some} with samples, snapshots and training states for good?",
            "This cannot be undone.",
            "Delete for good",
        ):
            return
        job: BackgroundJob[Emptied] = BackgroundJob(f"Deleting {some}\u2026", self._emptied, self._failed)
        self._strip.follow(job)
        database = self._workspace.database
        self._workspace.write(
            lambda writer: empty_bin(writer, database, runs, job.progress, job.cancelled), job.done, job.failed
        )

    def _emptied(self, result: Emptied) -> None:
        some = "1 run is" if result.deleted == 1 else f"{result.deleted} runs are"
        left = f" {result.left} stay{'s' if result.left == 1 else ''} in the bin." if result.left else ""
        self._strip.tell(f"{some} deleted.{left}")
        self._done(None)

    # --- inside

    def confirm(self, sentence: str, more: str, action: str) -> bool:
        """Ask a question that has no safe answer but Cancel."""
        box = QMessageBox(QMessageBox.Icon.Question, "Runs", sentence, parent=self._window)
        box.setInformativeText(more)
        yes = box.addButton(action, QMessageBox.ButtonRole.DestructiveRole)
        cancel = box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(cancel)
        box.exec()
        return box.clickedButton() is yes

    def _accepted(self, dialog: QDialog) -> bool:
        return dialog.exec() == QDialog.DialogCode.Accepted

    def _write(self, function: Callable[[Writer], object]) -> None:
        self._workspace.write(function, self._done, self._failed)

    def _done(self, _: object) -> None:
        self._workspace.refresh_runs()
        self.changed.emit()

    def _failed(self, failure: TaskFailure) -> None:
        self.changed.emit()
        self._workspace.problem.emit(failure.message, failure.traceback)


def _to_bin(writer: Writer, run_ids: list[int]) -> list[int]:
    """Move runs to the bin; return their ids."""
    for run_id in run_ids:
        writer.move_to_bin(run_id)
    return run_ids


def _set_tags(writer: Writer, tags: Mapping[int, Sequence[str]]) -> None:
    for run_id, some in tags.items():
        writer.set_tags(run_id, some)


def _archive(writer: Writer, run_ids: Sequence[int], archived: bool) -> None:
    for run_id in run_ids:
        writer.archive_run(run_id, archived)


def _restore(writer: Writer, run_ids: Sequence[int]) -> None:
    for run_id in run_ids:
        writer.restore_run(run_id)
