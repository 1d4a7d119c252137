"""One line that says how much of a run is there, and why the rest is not."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from grpo_gui.outside.names import plain_name
from grpo_gui.outside.pieces import RunInfo, ScalarRow


@dataclass(slots=True)
class Completeness:
    """Counts what was read of a run."""

    logged_steps: int = 0  # training rows
    generations_logged: int = 0  # rows that tell of fresh samples
    last_step: int = -1
    sampled_steps: int = 0
    completions: int = 0
    repeated: set[int] = field(default_factory=set)  # steps whose file holds the samples of the step before
    overwritten: set[int] = field(default_factory=set)  # steps whose file an evaluation wrote over
    _logged: int = -1  # the step counted last: several sources may tell of it
    _counted: int = -1

    def log(self, row: ScalarRow, *, evaluation: bool) -> None:
        """Count a row of numbers."""
        if evaluation:
            return
        if row.step != self._logged:
            self._logged = row.step
            self.logged_steps += 1
            self.generations_logged += any(plain_name(name) == "reward" for name in row.values)
        self.last_step = max(self.last_step, row.step)

    def count(self, step: int, samples: int) -> None:
        """Count samples of a step."""
        self.completions += samples
        if step != self._counted:
            self.sampled_steps += 1
            self._counted = step
        self.last_step = max(self.last_step, step)

    def state(self) -> dict[str, object]:
        """The counts as JSON, from which `restore` goes on."""
        return {
            one.name: sorted(value) if isinstance(value := getattr(self, one.name), set) else value
            for one in fields(self)
        }

    def restore(self, state: Mapping[str, object]) -> None:
        """Take back what `state` gave."""
        for one in fields(self):
            value = state.get(one.name)
            if isinstance(value, int | list):
                setattr(self, one.name, set(value) if isinstance(value, list) else value)

    def sentence(self, info: RunInfo) -> str:
        """How complete the run is, in one line."""
        parts = [self._steps(info), self._samples(info)]
        if self.overwritten:
            parts.append(f"The completions of {_steps(self.overwritten)} were overwritten by an evaluation.")
        if self.repeated:
            parts.append(
                f"{_files(len(self.repeated))} repeated the completions of the step before (several updates on one "
                "batch) and were taken once."
            )
        return " ".join(filter(None, parts))

    def _steps(self, info: RunInfo) -> str:
        if self.last_step < 0:
            return "It holds no step yet."
        if info.max_steps is not None and info.max_steps > self.last_step:
            return f"It stands at step {self.last_step} of {info.max_steps}."
        return f"It holds steps up to {self.last_step}."

    def _samples(self, info: RunInfo) -> str:
        if not self.completions:
            return "" if not self.logged_steps else "Its files hold no completions."
        every = info.logging_steps or 1
        batches = self.generations_logged * every
        missing = batches - self.sampled_steps
        if every > 1 and missing > 0:
            return (
                f"{missing} of {batches} batches of completions were never written by this run's settings "
                f"(logging_steps is {every})."
            )
        lost = self.generations_logged - self.sampled_steps - len(self.overwritten)
        if lost > 0:
            return f"{lost} of {self.generations_logged} batches of completions are missing."
        return "Every logged batch of completions is there." if not self.overwritten and self.logged_steps else ""


def _steps(steps: set[int]) -> str:
    shown = sorted(steps)[:3]
    rest = len(steps) - len(shown)
    words = ", ".join(map(str, shown))
    return f"step{'s' if len(steps) > 1 else ''} {words}{f' and {rest} more' if rest else ''}"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
