"""The card of the run form: preset, task, the few settings that matter most, all the others behind a link, Start."""

from dataclasses import replace

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QGridLayout, QHBoxLayout, QPushButton, QWidget

from grpo_gui.training.memory_forecast import memory_text
from grpo_gui.training.presets import PRESETS
from grpo_gui.ui import icons, theme
from grpo_gui.ui.models.config_draft import ConfigDraft
from grpo_gui.ui.models.config_fields import FIELDS, SETTINGS_COUNT, fields_of, to_text
from grpo_gui.ui.models.run_pace import UNKNOWN, RunPace
from grpo_gui.ui.widgets.all_settings import AllSettings
from grpo_gui.ui.widgets.branch_notice import BranchNotice
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.config_field import ConfigFieldInput, LabelledInput
from grpo_gui.ui.widgets.file_input import FileInput
from grpo_gui.ui.widgets.icon_mark import IconMark
from grpo_gui.ui.widgets.labels import hline, label
from grpo_gui.ui.widgets.task_cards import TaskCards
from grpo_gui.ui.widgets.task_mix import TaskMix
from grpo_gui.ui.widgets.where_it_runs import WhereItRuns

BUILTIN = "Built-in, small and quick"
POLICY_TOOLTIP = (
    "The model to train: the built-in one, a folder with a causal language model (safetensors), or a GGUF file."
)
DEVICE_TOOLTIP = "Where torch computes. auto takes the first graphics card for CUDA, else the processor."
FILE_TOOLTIP = (
    "JSON lines, CSV, a JSON array or Parquet with a column prompt (text or chat messages), and a column answer where "
    "a reward compares with one; or question and answer as in GSM8K; or reasoning_gym:NAME."
)
NOTE = "Everything is kept in one database file; no network is used."
TRL_NOTE = "What TRL samples and measures goes into the database; its own files lie in the run's folder beside it."
DATA_FILTER = "Data (*.jsonl *.ndjson *.json *.csv *.parquet);;All files (*)"


class RunFormCard(Card):
    """Edits a ConfigDraft; `start_clicked` by the button."""

    start_clicked = Signal()

    def __init__(self, draft: ConfigDraft) -> None:
        super().__init__(padding=20)
        self.draft = draft
        self.title = label("New run", "cardtitle")
        self.branch = BranchNotice()
        self.preset = QComboBox()
        self.preset_note = label("", "hint", wrap=True)
        self.tasks = TaskCards()
        self.mix = TaskMix()
        self.prompt_file = FileInput("Data file", FILE_TOOLTIP, DATA_FILTER)
        self.policy = QComboBox()
        self.device = QComboBox()
        self.device_input = LabelledInput("Device", DEVICE_TOOLTIP, self.device)
        self.policy_input = LabelledInput("Policy", POLICY_TOOLTIP, self.policy)
        self.inputs: dict[str, ConfigFieldInput] = {field.name: ConfigFieldInput(field) for field in fields_of("")}
        self.all_settings = AllSettings()
        self.more = link(f"All {SETTINGS_COUNT} settings", "right", tooltip="Show every setting of a run.")
        self.where = WhereItRuns()
        self.check_mark, self.check = IconMark(), label("", "small")
        self.task_problem = label("", "error", wrap=True)
        self.memory = label("", "hint", wrap=True)
        self.start = QPushButton("Start training")
        self.note = label(NOTE, "label", wrap=True)
        self._pace: RunPace | None = None
        self._is_pace_known = False
        self._lay_out()
        self._connect()
        self._show_all()

    def set_devices(self, devices: tuple[str, ...]) -> None:
        """Offer the devices that torch found, in its names."""
        chosen = self.draft.config.device
        self.device.clear()
        self.device.addItems([*dict.fromkeys(("auto", "cpu", *devices, chosen))])
        self.device.setCurrentText(chosen)
        self.draft.devices = devices or None
        self.where.cards = sum(name.startswith("cuda") for name in devices)
        self.device_input.hint.setText("" if any(name != "cpu" for name in devices) else "no GPU found")

    def show_start(self, text: str, reason: str) -> None:
        """Set the button's text; a `reason` disables it and is shown in place of the note."""
        self.start.setText(text)
        self.start.setEnabled(not reason)
        self.start.setToolTip(reason or "Start the run (Enter).")

    def show_pace(self, pace: RunPace | None) -> None:
        """Say below the button how long the run will take, or that no earlier run tells it."""
        self._pace, self._is_pace_known = pace, True
        self._show_note()

    def _show_note(self) -> None:
        if self.draft.place is not None:
            self.note.setText(TRL_NOTE)
            self.note.setToolTip("")
            return
        pace = self._pace
        length = pace.sentence(self.draft.config.steps) if pace is not None else UNKNOWN if self._is_pace_known else ""
        self.note.setText(f"{length} {NOTE}".strip())
        self.note.setToolTip("" if pace is None else pace.tooltip())

    def _lay_out(self) -> None:
        self.body.setSpacing(8)
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(label("Preset", "label", "Where the settings start from."))
        head.addWidget(self.preset)
        self.preset.setMinimumWidth(theme.px(240))
        self.preset.setAccessibleName("Preset")
        for preset in PRESETS.values():
            self.preset.addItem(preset.label, preset.name)
            self.preset.setItemData(self.preset.count() - 1, preset.description, Qt.ItemDataRole.ToolTipRole)
        self.body.addLayout(head)
        self.body.addWidget(self.preset_note)
        self.body.addWidget(self.branch)
        self.body.addWidget(label("Task", "title"))
        for widget in (self.tasks, self.mix, self.prompt_file, self.task_problem):
            self.body.addWidget(widget)
        self.body.addLayout(self._short_fields())
        self.body.addWidget(self.memory)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.more)
        row.addStretch(1)
        row.addWidget(self.check_mark)
        row.addWidget(self.check)
        self.body.addLayout(row)
        self.body.addWidget(self.all_settings)
        self.all_settings.hide()
        self.body.addWidget(hline())
        self.body.addWidget(self.where)
        self.start.setObjectName("big")
        self.start.setProperty("look", "primary")
        self.start.setIconSize(QSize(theme.px(16), theme.px(16)))
        icons.keep_icon(self.start, self.start.setIcon, "start", "onaccent")
        self.body.addSpacing(4)
        self.body.addWidget(self.start)
        self.note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.body.addWidget(self.note)

    def _short_fields(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(8)
        cells: list[QWidget] = [self.policy_input, self.device_input, *self.inputs.values()]
        for position, widget in enumerate(cells):
            grid.addWidget(widget, position // 3, position % 3)
        for column in range(3):
            grid.setColumnStretch(column, 1)
        self.policy.addItems([BUILTIN, "A model folder\u2026", "A GGUF file\u2026"])
        self.set_devices(())
        self.device_input.hint.setText("")
        return grid

    def _connect(self) -> None:
        draft = self.draft
        self.preset.activated.connect(lambda: draft.use_preset(str(self.preset.currentData())))
        self.tasks.chosen.connect(draft.choose_task)
        self.mix.edited.connect(lambda mix: draft.change(replace(draft.config, task_mix=mix)))
        self.prompt_file.edited.connect(lambda path: draft.change(replace(draft.config, prompt_file=path)))
        self.policy.activated.connect(self._policy_chosen)
        self.device.activated.connect(lambda: draft.change(replace(draft.config, device=self.device.currentText())))
        for name, widget in self.inputs.items():
            widget.edited.connect(lambda text, field=name: draft.set_text(field, text))
        self.all_settings.edited.connect(draft.set_text)
        self.all_settings.rewards_edited.connect(lambda specs: draft.change(replace(draft.config, rewards=specs)))
        self.all_settings.reward_files.confirmed.connect(lambda: draft.change(draft.config))
        self.more.clicked.connect(self.toggle_all)
        self.where.changed.connect(draft.use_place)
        self.start.clicked.connect(self.start_clicked)
        self.branch.dropped.connect(lambda: draft.use_branch(None))
        draft.replaced.connect(self._show_all)
        draft.changed.connect(self._show_checks)

    def toggle_all(self) -> None:
        """Show or hide the settings that are not in the short form."""
        shown = self.all_settings.isHidden()
        self.all_settings.setVisible(shown)
        self.more.setIcon(icons.icon("down" if shown else "right", "softtext"))

    def _policy_chosen(self, position: int) -> None:
        if position == 0:
            self.draft.change(replace(self.draft.config, model="builtin"))
        else:
            if position == 1:
                chosen = QFileDialog.getExistingDirectory(self, "Choose a model folder")
            else:
                chosen, _ = QFileDialog.getOpenFileName(self, "Choose a GGUF file", "", "GGUF (*.gguf)")
            if chosen:
                self.draft.change(replace(self.draft.config, model=chosen))
        self._show_policy()

    def _show_all(self) -> None:
        config, branch = self.draft.config, self.draft.branch
        self.title.setText("New run" if branch is None else f"Branch at step {branch.step}")
        self.branch.show_branch(branch)
        self.preset.setCurrentIndex(self.preset.findData(config.preset))
        self.tasks.show_chosen(config.task)
        self.mix.set_weights(config.task_mix)
        self.prompt_file.set_path(config.prompt_file)
        self.device.setCurrentText(config.device)
        for name, widget in self.inputs.items():
            widget.set_text(to_text(getattr(config, name)))
        self.all_settings.show_config(config)
        self._show_policy()
        self._show_checks()

    def _show_policy(self) -> None:
        model = self.draft.config.model
        self.policy.setCurrentIndex(0 if model == "builtin" else 1)
        self.policy.setItemText(1, "A model folder\u2026" if model == "builtin" else model)
        self.policy.setToolTip(POLICY_TOOLTIP if model == "builtin" else model)

    def _show_checks(self) -> None:
        config, problems = self.draft.config, self.draft.problems()
        known = PRESETS.get(config.preset)
        self.preset_note.setText(known.description if known is not None else "")
        self.mix.setVisible(config.task == "mix")
        self.prompt_file.setVisible(config.task == "file")
        self.prompt_file.show_problem(problems.get("prompt_file", ""))
        self.task_problem.setText(problems.get("task_mix", ""))
        self.task_problem.setVisible("task_mix" in problems)
        self.policy_input.show_problem(problems.get("model", ""))
        self.device_input.show_problem(problems.get("device", ""))
        for name, widget in self.inputs.items():
            widget.show_problem(problems.get(name, ""))
        text = memory_text(config)
        self.memory.setText(text)
        self.memory.setVisible(bool(text))
        self.all_settings.show_problems(problems)
        self.all_settings.reward_files.show_specs(config.rewards)
        self.where.show_place(self.draft.place, config, problems.get("place", ""))
        self._show_note()
        self._show_check_line(problems)

    def _show_check_line(self, problems: dict[str, str]) -> None:
        hidden = next((name for name in problems if name in self.all_settings.inputs or name == "rewards"), None)
        if not problems:
            self.check.setText(self.draft.check_sentence())
        elif hidden is not None and self.all_settings.isHidden():
            where = FIELDS[hidden].label if hidden in FIELDS else "Reward sources"
            self.check.setText(f"{where}: see all settings")
        else:
            self.check.setText("Not ready: see the red sentence")
        self.check.setToolTip("\n".join(problems.values() or self.draft.advice().values()))
        self.check_mark.show_icon(*(("warning", "bad") if problems else ("check", "good")))
