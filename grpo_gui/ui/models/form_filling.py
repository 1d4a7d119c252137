"""Where a proposed change of settings begins: a branch of the run where there is a snapshot, else a new run."""

from dataclasses import dataclass
from pathlib import Path

from grpo_gui.snapshots.choosing import locate
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import RunRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.models.branch_point import BranchPoint
from grpo_gui.ui.run_text import run_title


@dataclass(frozen=True, slots=True)
class Beginning:
    """The newest snapshot before a finding; `step` None: there is none, the model of the run begins anew."""

    step: int | None = None
    path: Path | None = None
    has_training_state: bool = False

    def branch(self, run: RunRecord, config: TrainConfig) -> BranchPoint | None:
        """A branch with changed settings; None where a new run is all that is possible."""
        if self.step is None or self.path is None or config.steps <= self.step:
            return None
        return BranchPoint(run.id, run_title(run), self.step, self.path, self.has_training_state, config)


def find_beginning(reader: StoreReader, run_id: int, database: Path, onset: int) -> Beginning:
    """Look for the newest snapshot before `onset` whose folder is there."""
    valid = [one for one in reader.snapshots(run_id) if not one.superseded and one.step < onset]
    for one in sorted(valid, key=lambda one: -one.step):
        path = locate(one, database)
        if path.is_dir():
            return Beginning(one.step, path, one.has_training_state)
    return Beginning()
