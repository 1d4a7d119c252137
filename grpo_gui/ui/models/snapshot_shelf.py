"""The snapshots of the selected run for the view: kept up to date, their files checked one after another."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import RunRecord
from grpo_gui.ui.models.snapshot_reading import Fingerprint, Shelf, check_files, fingerprint, read_shelf
from grpo_gui.ui.models.snapshot_row import FileState, SnapshotRow
from grpo_gui.ui.workspace import Workspace

_GROWN_MS = 1000

Checked = tuple[SnapshotRow, Fingerprint, FileState, str]


class SnapshotShelf(QObject):
    """`changed` whenever the rows are others; `checked` when only what is known of one row's files changed."""

    changed = Signal()
    checked = Signal(int)  # row

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._known: dict[Path, tuple[Fingerprint, FileState, str]] = {}
        self._checking = False
        self._is_shown = False
        self._grown = QTimer(self)
        self._grown.setSingleShot(True)
        self._grown.setInterval(_GROWN_MS)
        self._grown.timeout.connect(self._refresh_if_shown)
        self.shelf: Shelf | None = None
        self.shows_superseded = False
        workspace.run_selected.connect(self._select)
        workspace.snapshots_changed.connect(self._run_changed)
        workspace.store_grew.connect(self._grew)

    @property
    def rows(self) -> tuple[SnapshotRow, ...]:
        """Newest first, the base model last; empty without a run."""
        return self.shelf.rows if self.shelf is not None else ()

    def show_superseded(self, shown: bool) -> None:
        """List also the snapshots of steps that were replaced when the run was resumed from an earlier one."""
        self.shows_superseded = shown
        self.refresh()

    def set_shown(self, shown: bool) -> None:
        """Read only while somebody looks: a run in the background grows four times a second."""
        self._is_shown = shown
        self._refresh_if_shown()

    def refresh(self) -> None:
        """Read the list again."""
        run = self._workspace.run
        if run is not None:
            reading = partial(_read, run=run, database=self._workspace.database, with_superseded=self.shows_superseded)
            self._workspace.read(reading, self._take, key="snapshots.shelf")

    def _grew(self) -> None:
        if not self._grown.isActive():
            self._grown.start()

    def _refresh_if_shown(self) -> None:
        if self._is_shown:
            self.refresh()

    def _select(self, run: RunRecord | None) -> None:
        if self.shelf is None or run is None or self.shelf.run_id != run.id:
            self.shelf = None
            self.changed.emit()
        self._refresh_if_shown()

    def _run_changed(self, run_id: int) -> None:
        if self._workspace.run is not None and self._workspace.run.id == run_id:
            self._refresh_if_shown()

    def _take(self, answer: tuple[Shelf, dict[Path, Fingerprint]]) -> None:
        shelf, prints = answer
        run = self._workspace.run
        if run is None or shelf.run_id != run.id:
            return
        rows = tuple(self._with_known(row, prints) for row in shelf.rows)
        new = replace(shelf, rows=rows)
        if new != self.shelf:
            self.shelf = new
            self.changed.emit()
        self._check_next()

    def _with_known(self, row: SnapshotRow, prints: dict[Path, Fingerprint]) -> SnapshotRow:
        if row.path is None or row.path not in prints:
            return row
        known = self._known.get(row.path)
        if known is None or known[0] != prints[row.path]:
            return row
        return replace(row, files=known[1], problem=known[2])

    def _check_next(self) -> None:
        waiting = [row for row in self.rows if row.files is FileState.CHECKING]
        if waiting and not self._checking:
            self._checking = True
            row = min(waiting, key=lambda row: row.size_bytes)
            self._workspace.read(partial(_check, row=row), self._take_checked)

    def _take_checked(self, answer: Checked) -> None:
        self._checking = False
        row, files, state, problem = answer
        if row.path is not None:
            self._known[row.path] = (files, state, problem)
        if self.shelf is not None and row in self.rows:
            place = self.rows.index(row)
            rows = (*self.rows[:place], replace(row, files=state, problem=problem), *self.rows[place + 1 :])
            self.shelf = replace(self.shelf, rows=rows)
            self.checked.emit(place)
        self._check_next()


def _read(
    reader: StoreReader, run: RunRecord, database: Path, with_superseded: bool
) -> tuple[Shelf, dict[Path, Fingerprint]]:
    shelf = read_shelf(reader, run, database, with_superseded=with_superseded)
    return shelf, {row.path: fingerprint(row.path) for row in shelf.rows if row.path is not None and row.path.is_dir()}


def _check(_: StoreReader, row: SnapshotRow) -> Checked:
    files = fingerprint(row.path) if row.path is not None else ()
    return row, files, *check_files(row)
