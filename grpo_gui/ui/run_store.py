"""What the Runs view asks of the store's writer."""

from collections.abc import Sequence
from typing import Protocol

from grpo_gui.store.emptying import Deleter
from grpo_gui.store.run_files import Receiver


class RunStore(Deleter, Receiver, Protocol):
    """Part of the writer; every method blocks, so never call one on the GUI thread."""

    def rename_run(self, run_id: int, name: str) -> None:
        """Give a run another name."""

    def add_note(self, run_id: int, step: int, text: str) -> int:
        """Keep a note at a step; return its id."""

    def remove_note(self, note_id: int) -> None:
        """Delete a note."""

    def set_tags(self, run_id: int, tags: Sequence[str]) -> None:
        """Replace the tags of a run."""

    def archive_run(self, run_id: int, archived: bool) -> None:
        """Put a run into the archive, or take it out."""

    def move_to_bin(self, run_id: int) -> None:
        """Move a run to the bin."""

    def restore_run(self, run_id: int) -> None:
        """Take a run back out of the bin."""
