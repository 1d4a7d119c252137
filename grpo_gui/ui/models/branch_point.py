"""Where a new run leaves another one: the snapshot whose weights it takes over."""

from dataclasses import dataclass
from pathlib import Path

from grpo_gui.training.config import TrainConfig


@dataclass(frozen=True, slots=True)
class BranchPoint:
    """A snapshot of a run, and the settings that the run had there."""

    run_id: int
    run_title: str
    step: int
    path: Path
    has_training_state: bool
    config: TrainConfig

    def problems(self, config: TrainConfig) -> dict[str, str]:
        """Sentences by field that keep a branch with this config from starting; empty when it can."""
        found = {}
        if config.steps <= self.step:
            found["steps"] = f"The branch begins at step {self.step}; its last step must be later."
        if config.model != self.config.model:
            found["model"] = f"A branch goes on with the model of its parent, {self.config.model}."
        return found

    def sentence(self) -> str:
        """What a branch takes over, for the form."""
        taken = f"Begins with the weights of {self.run_title} after step {self.step}"
        if self.has_training_state:
            return f"{taken}, its optimizer, and with the same seed its random numbers; change what shall differ."
        return f"{taken}; the snapshot has no training state, so the optimizer begins anew."
