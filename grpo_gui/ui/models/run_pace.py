"""Which earlier run tells how long a new one will take, and what the form says of it."""

from dataclasses import dataclass

from grpo_gui.store.reader import StoreReader
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.duration_forecast import about, is_as_fast, seconds_per_step
from grpo_gui.ui.run_config import config_of
from grpo_gui.ui.run_text import run_title

MEASURED_STEPS = 200  # the newest ones of the earlier run
_TRAINED_HERE = ("embedded", "headless", "background")
UNKNOWN = "How long it takes is not known before a first such run."


@dataclass(frozen=True, slots=True)
class RunPace:
    """An earlier run with the same settings and its seconds per step."""

    run_id: int
    title: str
    seconds: float

    def sentence(self, steps: int) -> str:
        """Return how long so many steps take at this pace."""
        return f"{about(steps * self.seconds)} at the pace of run {self.run_id}."

    def tooltip(self) -> str:
        """Say where the number comes from."""
        return f"Run {self.run_id}, {self.title}, had the same settings and took {self.seconds:.3g} s a step."


def pace_like(reader: StoreReader, config: TrainConfig) -> RunPace | None:
    """The pace of the newest run whose steps take as long as those of `config` would; None where there is none."""
    for run in reader.runs():
        if run.origin not in _TRAINED_HERE:
            continue
        earlier = config_of(run)
        if earlier is None or not is_as_fast(earlier, config):
            continue
        seconds = seconds_per_step(reader.totals(run.id, run.steps_done - MEASURED_STEPS).times_s)
        if seconds is not None:
            return RunPace(run.id, run_title(run), seconds)
    return None
