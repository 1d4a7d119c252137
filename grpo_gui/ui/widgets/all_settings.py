"""Every setting of a run that is not in the short form, grouped, behind a link."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.ui.models.config_fields import GROUPS, fields_of, to_text
from grpo_gui.ui.widgets.config_field import ConfigFieldInput
from grpo_gui.ui.widgets.labels import hline, label
from grpo_gui.ui.widgets.reward_files_bar import RewardFilesBar
from grpo_gui.ui.widgets.reward_sources import RewardSources

COLUMNS = 3


class AllSettings(QWidget):
    """`edited` gives a field's name and text, `rewards_edited` the reward sources."""

    edited = Signal(str, str)
    rewards_edited = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.inputs: dict[str, ConfigFieldInput] = {}
        self.rewards = RewardSources()
        self.rewards.edited.connect(self.rewards_edited)
        self.rewards_problem = label("", "error", wrap=True)
        self.reward_files = RewardFilesBar()
        self.reward_files.specs_added.connect(self._add_specs)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 4)
        column.setSpacing(8)
        for group, title in GROUPS:
            column.addWidget(hline())
            column.addWidget(label(title, "title"))
            if group == "rewards":
                column.addWidget(self.rewards)
                column.addWidget(self.rewards_problem)
                column.addWidget(self.reward_files)
            else:
                column.addLayout(self._grid(group))
        self.rewards_problem.hide()

    def show_config(self, config: TrainConfig) -> None:
        """Show all values."""
        for name, widget in self.inputs.items():
            widget.set_text(to_text(getattr(config, name)))
        self.reward_files.show_specs(config.rewards)
        if self.rewards.specs() != config.rewards:
            self.rewards.set_specs(config.rewards)

    def show_problems(self, problems: Mapping[str, str]) -> None:
        """Show each field's sentence below it."""
        for name, widget in self.inputs.items():
            widget.show_problem(problems.get(name, ""))
        self.rewards_problem.setText(problems.get("rewards", ""))
        self.rewards_problem.setVisible("rewards" in problems)

    def _add_specs(self, specs: Sequence[RewardSpec]) -> None:
        """Add functions of a file; the source that a new form begins with gives way to them."""
        kept = self.rewards.specs()
        self.rewards.set_specs((*(() if kept == TrainConfig().rewards else kept), *specs))
        self.rewards_edited.emit(self.rewards.specs())

    def _grid(self, group: str) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(8)
        for position, field in enumerate(fields_of(group)):
            widget = ConfigFieldInput(field)
            widget.edited.connect(lambda text, name=field.name: self.edited.emit(name, text))
            self.inputs[field.name] = widget
            grid.addWidget(widget, position // COLUMNS, position % COLUMNS)
        for position in range(COLUMNS):
            grid.setColumnStretch(position, 1)
        return grid
