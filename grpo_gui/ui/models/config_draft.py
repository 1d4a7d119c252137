"""A run config while it is edited: the last readable values, what is wrong with them, and what follows from them."""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from grpo_gui.handover.placement import Placement, missing_trl
from grpo_gui.handover.placement import problems as place_problems
from grpo_gui.settings import Settings
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.presets import preset_config
from grpo_gui.training.validation import advice, problems
from grpo_gui.ui.formatting import count
from grpo_gui.ui.models.branch_point import BranchPoint
from grpo_gui.ui.models.config_fields import FIELDS, parse


class ConfigDraft(QObject):
    """`changed` after every edit; `replaced` when all values came at once (a preset)."""

    changed = Signal()
    replaced = Signal()

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self._unreadable: dict[str, str] = {}
        self._data_problem: tuple[TrainConfig, str] | None = None
        self.branch: BranchPoint | None = None  # where the run leaves another one; None: it begins with its model
        self.place: Placement | None = None  # where TRL shall train it; None: this window trains it
        self.accelerate = ""  # the text of accelerate's file; "" for the template
        self.devices: tuple[str, ...] | None = None  # that torch found; None: it has not looked yet
        self.config = self._with_settings(preset_config("default"))

    def use_preset(self, name: str) -> None:
        """Start from a preset; device, threads and evaluation interval stay the user's own."""
        self._unreadable.clear()
        self.config = self._with_settings(preset_config(name))
        self.replaced.emit()
        self.changed.emit()

    def use_settings(self, settings: Settings) -> None:
        """Take device, threads and evaluation interval from changed settings."""
        self._settings = settings
        self.config = self._with_settings(self.config)
        self.replaced.emit()
        self.changed.emit()

    def use_config(self, config: TrainConfig) -> None:
        """Start from a whole config, for instance that of an earlier run."""
        self._unreadable.clear()
        self.config, self.branch = config, None
        self.replaced.emit()
        self.changed.emit()

    def use_branch(self, branch: BranchPoint | None) -> None:
        """Describe a branch, with the settings of its parent filled in; None turns it back into a run of its own."""
        if branch is not None:
            self.use_config(branch.config)
        self.branch = branch
        self.replaced.emit()
        self.changed.emit()

    def use_place(self, place: Placement | None, accelerate: str = "") -> None:
        """Let TRL train the run, or this window (None)."""
        self.place, self.accelerate = place, accelerate
        self.changed.emit()

    def set_text(self, name: str, text: str) -> None:
        """Take what was typed into a field; an unreadable text keeps the last value and becomes a problem."""
        try:
            value = parse(FIELDS[name], text)
        except ValueError as error:
            self._unreadable[name] = str(error)
            self.changed.emit()
            return
        self._unreadable.pop(name, None)
        values: dict[str, Any] = {name: value}  # the field's kind decides the type
        self.change(replace(self.config, **values))

    def change(self, config: TrainConfig) -> None:
        """Take a config with some values changed that are not typed as text (task, mix, rewards, model, device)."""
        self.config = config
        self.changed.emit()

    def choose_task(self, task: str) -> None:
        """Change the task; sizes belong to one task, so they go back to the new one's own range."""
        if task != self.config.task:
            for name in ("min_size", "max_size"):
                self._unreadable.pop(name, None)
            self.config = replace(self.config, task=task, min_size=0, max_size=0)
            self.replaced.emit()
            self.changed.emit()

    def problems(self) -> dict[str, str]:
        """Return a sentence per field that cannot be used; empty when the run can start."""
        of_branch = {} if self.branch is None else self.branch.problems(self.config)
        of_data = {}
        if self._data_problem is not None and self._data_problem[0] == data_settings(self.config):
            of_data = {"prompt_file": self._data_problem[1]}
        return {**of_data, **problems(self.config), **of_branch, **self._unreadable, **self._place_problem()}

    def _place_problem(self) -> dict[str, str]:
        if self.place is None:
            return {}
        if self.branch is not None:
            return {"place": "A branch begins with the state of this window's trainer, which TRL cannot take over."}
        found = [*missing_trl(), *place_problems(self.config, self.place, self.devices)]
        return {"place": found[0]} if found else {}

    def note_data(self, settings: TrainConfig, problem: str) -> None:
        """Take what was wrong with the data of these `data_settings`, "" for nothing: the run cannot start with it."""
        self._data_problem = (settings, problem) if problem else None
        self.changed.emit()

    def advice(self) -> dict[str, str]:
        """Return a sentence per field with a consequence worth knowing."""
        return advice(self.config)

    def check_sentence(self) -> str:
        """Return how the step divides, for a config without problems."""
        config = self.config
        total = config.prompts_per_step * config.num_generations
        micro = (config.micro_batch_prompts or config.prompts_per_step) * config.num_generations
        if micro == total:
            return f"Checked: {count(total)} completions per step go through the model at once"
        return f"Checked: {count(total)} completions per step divide into micro-batches of {count(micro)}"

    def _with_settings(self, config: TrainConfig) -> TrainConfig:
        kept = self._settings
        return replace(config, device=kept.device, threads=kept.threads, eval_steps=kept.eval_steps)


def data_settings(config: TrainConfig) -> TrainConfig:
    """The default config with those settings of `config` that decide how its data are read."""
    return replace(TrainConfig(), **{name: getattr(config, name) for name in _DATA_SETTINGS})


_DATA_SETTINGS = (
    *("task", "prompt_file", "model", "chat_template", "system_prompt", "max_completion_length", "seed", "rewards"),
    *("lora_rank", "gradient_checkpointing"),
)
