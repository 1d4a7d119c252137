"""One line of the Runs view: a run with its notes, its reward in few points, and how it is overlaid."""

from dataclasses import dataclass

from grpo_gui.store.records import Float64Array, NoteRecord, RunRecord
from grpo_gui.ui.run_text import run_title


@dataclass(frozen=True, slots=True, eq=False)
class RunRow:
    """A run as the table shows it. `slot` is its place among the overlaid ones, None where it is not overlaid."""

    run: RunRecord
    notes: tuple[NoteRecord, ...]
    spark: Float64Array
    steps_planned: int | None  # None for a config of another program
    slot: int | None = None

    @property
    def id(self) -> int:
        """The run's id."""
        return self.run.id

    @property
    def title(self) -> str:
        """The run's name with its seed."""
        return run_title(self.run)

    @property
    def metrics(self) -> dict[str, float | None]:
        """The newest value of each metric."""
        return dict(self.run.final_metrics)


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs are listed. `search` looks in name, task, tags, notes, origin and program, word by word."""

    search: str = ""
    state: str = ""  # a status, empty: all
    task: str = ""
    shows_archive: bool = False

    def finds(self, row: RunRow) -> bool:
        """True for a run that is to be listed."""
        run = row.run
        if self.shows_archive != run.archived or (self.state and run.status.value != self.state):
            return False
        if self.task and run.task != self.task:
            return False
        notes = " ".join(note.text for note in row.notes)
        text = " ".join((row.title, run.task, *run.tags, notes, run.origin, run.program, run.config)).casefold()
        return all(word in text for word in self.search.casefold().split())
