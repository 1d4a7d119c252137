"""Findings in the Train view: marks on the axis, the list, the open card, and what its buttons do."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from grpo_gui.commands import SetHyperparameters
from grpo_gui.diagnose.evidence import SampleRef
from grpo_gui.diagnose.finding import Finding, FindingState
from grpo_gui.diagnose.reading import Severity
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import CompletionQuery, CompletionRef
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.diagnosing import diagnose_run
from grpo_gui.ui.formatting import count
from grpo_gui.ui.health_watch import HealthWatch
from grpo_gui.ui.models.finding_mark import FindingMark
from grpo_gui.ui.models.finding_samples import read_samples
from grpo_gui.ui.models.finding_words import COLORS
from grpo_gui.ui.models.form_filling import Beginning, find_beginning
from grpo_gui.ui.models.hyperparameters import HYPERPARAMETERS, current_values
from grpo_gui.ui.models.prompt_copy import copy_without
from grpo_gui.ui.models.remedies import DropPrompts, Live, NewRun, Remedy, goes_back, remedies_for
from grpo_gui.ui.models.run_health import RunHealth
from grpo_gui.ui.models.run_model import RunModel
from grpo_gui.ui.plots.plots_panel import PlotsPanel
from grpo_gui.ui.widgets.finding_card import FindingCard
from grpo_gui.ui.widgets.findings_list import FindingsList
from grpo_gui.ui.widgets.sample_rows import SampleLine
from grpo_gui.ui.workspace import Workspace

_FOREIGN = "This run is trained by another program; change it there."
_NOT_WHILE_IT_RUNS = "This cannot change while the run goes on: stop it, then start the {what} in the form."
_STARTS_OVER = "There is no snapshot from before this began, so the new run starts over."


class TrainFindings(QObject):
    """Connects the watch with the widgets of the Train view. One card at most is open."""

    def __init__(
        self,
        workspace: Workspace,
        watch: HealthWatch,
        model: RunModel,
        plots: PlotsPanel,
        can_change: Callable[[], bool],
    ) -> None:
        super().__init__(plots)
        self._workspace, self.watch, self._model, self._plots = workspace, watch, model, plots
        self._can_change = can_change
        self._card: FindingCard | None = None
        self._beginning = Beginning()
        self._shown: tuple[str, tuple[SampleRef, ...]] | None = None
        self._asked: SetHyperparameters | None = None  # of the trainer, which has not said yet that it did so
        self.open_detector = ""
        self.list = FindingsList(most=6)
        self.list.opened.connect(self.toggle)
        watch.changed.connect(self._take)
        model.changes_changed.connect(self.refresh_remedies)
        workspace.status_changed.connect(self._heard)

    @property
    def card(self) -> FindingCard:
        """The card, made at its first use."""
        if self._card is None:
            self._card = card = FindingCard(self._plots.axis)
            card.closed.connect(self.close)
            card.grown.connect(self._plots.grid.fit_cover)
            card.mute_asked.connect(self.watch.mute)
            card.other_asked.connect(self.open)
            card.sample_asked.connect(self._open_sample)
            card.all_samples_asked.connect(self._open_all_samples)
            card.remedy_asked.connect(self._do)
        return self._card

    @property
    def is_open(self) -> bool:
        """True while the card covers the lower plots."""
        return bool(self.open_detector)

    def open_first(self) -> bool:
        """Open the most severe finding, or close the card; False when there is no open finding."""
        if self.is_open:
            self.close()
            return True
        shown = self.watch.health.open
        if shown:
            self.open(shown[0].detector)
        return bool(shown)

    def toggle(self, detector: str) -> None:
        """Open a finding, or close it when it is open."""
        if detector == self.open_detector:
            self.close()
        else:
            self.open(detector)

    def open(self, detector: str) -> None:
        """Show the card of a finding over the lower plots."""
        if self.watch.health.finding(detector) is not None:
            self.open_detector, self._shown, self._asked = detector, None, None
            self._show(self.watch.health)
            self.card.close_button.setFocus()

    def close(self) -> None:
        """Show the plots again."""
        self.open_detector, self._shown = "", None
        self._show(self.watch.health)
        self._plots.cards["reward"].area.setFocus()

    def refresh_remedies(self) -> None:
        """Bring the buttons in line with the settings in force and with who listens."""
        finding = self.watch.health.finding(self.open_detector)
        run, config = self._workspace.run, self._model.config
        if finding is None or run is None:
            return
        if config is None:
            self.card.show_remedies((), _FOREIGN)
            return
        values: dict[str, Any] = current_values(config, self._model.series.changes)
        can_change = self._can_change()
        # a new run has what was changed on the way as well
        in_force = replace(config, **values)
        found = remedies_for(finding, in_force, values, run.steps_done + 1, can_change=can_change)
        asked = next((one for one in found if isinstance(one, Live) and one.command == self._asked), None)
        if asked is not None:
            self._show_asked(asked)
            return
        if goes_back(finding) and self._beginning.step is not None:
            found = tuple(sorted(found, key=lambda one: isinstance(one, Live)))
        is_live = can_change and not any(isinstance(one, Live) for one in found)
        named = tuple(self._named(one, is_live=is_live) for one in found)
        self.card.show_remedies(named, "" if named else self._why_none(finding.action.setting))

    # --- inside

    def _named(self, remedy: Remedy, *, is_live: bool) -> Remedy:
        """Say where a new run begins, and of a run that goes on how to get there."""
        if isinstance(remedy, Live):
            return remedy
        step = self._beginning.step
        is_branch = step is not None and remedy.config.steps > step
        hints = [remedy.hint]
        if is_live:
            hints.append(_NOT_WHILE_IT_RUNS.format(what="branch" if is_branch else "new run"))
        if is_branch:
            hints.append(f"It begins with the snapshot of step {step}.")
        elif is_live:
            hints.append(_STARTS_OVER)
        label = remedy.label.replace("New run", f"Branch from step {step}", 1) if is_branch else remedy.label
        return replace(remedy, label=label, hint=" ".join(hints))

    def _why_none(self, setting: str) -> str:
        """Why there is no button for a setting; empty where the program cannot do what is proposed."""
        since = [change.step for change in self._model.series.changes if change.name == setting]
        if since:
            return f"It is set since step {count(since[-1])}."
        return "It is set already." if setting in HYPERPARAMETERS else ""

    def _heard(self) -> None:
        """The trainer said something, perhaps that it does not take what was asked for."""
        self._asked = None
        self.refresh_remedies()

    def _show_asked(self, remedy: Live) -> None:
        self.card.show_remedies((), f"Asked for: {remedy.label.lower()}. It holds from the next step on.")

    def _take(self, health: RunHealth) -> None:
        if self.open_detector and health.finding(self.open_detector) is None:
            self.open_detector, self._shown = "", None
        self._show(health)

    def _show(self, health: RunHealth) -> None:
        self.list.show_health(health, self.open_detector)
        finding = health.finding(self.open_detector)
        self._plots.show_findings(_marks(health, self.open_detector), None if finding is None else self.card)
        if finding is not None:
            self.card.show_finding(finding, health)
            self._read_samples(finding)
            self.refresh_remedies()

    def _read_samples(self, finding: Finding) -> None:
        wanted = finding.detector, finding.evidence
        run = self._workspace.run
        if wanted == self._shown or run is None:
            return
        is_new = self._shown is None or self._shown[0] != finding.detector
        self._shown = wanted
        if is_new:
            self.card.show_samples(())
        reading = partial(read_samples, run_id=run.id, detector=finding.detector, evidence=finding.evidence)
        self._workspace.read(reading, self._take_samples, key="findings.samples")
        database, run_id, onset = self._workspace.database, run.id, finding.onset
        self._beginning = Beginning()
        self._workspace.read(
            lambda reader: find_beginning(reader, run_id, database, onset), self._take_beginning, key="findings.begin"
        )

    def _take_samples(self, answer: tuple[str, tuple[SampleLine, ...]]) -> None:
        detector, lines = answer
        if detector == self.open_detector:
            self.card.show_samples(lines)

    def _take_beginning(self, beginning: Beginning) -> None:
        self._beginning = beginning
        if self.open_detector:
            self.refresh_remedies()

    def _open_sample(self, ref: CompletionRef) -> None:
        self._workspace.view_requested.emit("completions")
        self._workspace.completion_selected.emit(ref)

    def _open_all_samples(self, finding: Finding) -> None:
        if self._workspace.run is not None and finding.evidence:
            steps = [ref.step for ref in finding.evidence]
            query = CompletionQuery(self._workspace.run.id, min_step=min(steps), max_step=max(steps))
            self._workspace.view_requested.emit("completions")
            self._workspace.completions_asked.emit(query)

    # --- remedies

    def _do(self, remedy: Remedy) -> None:
        if isinstance(remedy, Live):
            self._asked = remedy.command
            self._workspace.post(remedy.command)
            self._show_asked(remedy)
        elif isinstance(remedy, NewRun):
            self._fill_form(remedy.config)
        else:
            self._drop_prompts(remedy)

    def _fill_form(self, config: TrainConfig) -> None:
        run = self._workspace.run
        branch = None if run is None else self._beginning.branch(run, config)
        if branch is not None:
            self._workspace.branch_requested.emit(branch)
        else:
            self._workspace.form_asked.emit(config)

    def _drop_prompts(self, remedy: DropPrompts) -> None:
        source = Path(remedy.config.prompt_file)
        suggested = source.with_name(f"{source.stem}-shorter.jsonl")
        name, _ = QFileDialog.getSaveFileName(self._plots, "Data file without these prompts", str(suggested))
        run = self._workspace.run
        if not name or run is None:
            return
        run_id, target = run.id, Path(name)

        def work(reader: StoreReader) -> TrainConfig:
            prompts = diagnose_run(reader, run_id).prompts
            listed = prompts.always_solved() if remedy.always_solved else prompts.never_solved()
            return copy_without(remedy.config, target, {one.prompt for one in listed})

        self._workspace.read(work, self._fill_form)


def _marks(health: RunHealth, chosen: str) -> tuple[FindingMark, ...]:
    """A mark for each open finding, and for the one whose card is open."""
    shown = {one.detector: one for one in health.open}
    opened = health.finding(chosen)
    if opened is not None:
        shown[chosen] = opened
    return tuple(
        FindingMark(one.onset, one.title.lower(), _color(one), is_shown=one.detector == chosen)
        for one in shown.values()
    )


def _color(finding: Finding) -> str:
    if finding.state is FindingState.CLOSED or finding.severity is Severity.NOTE:
        return "text2"
    return COLORS[finding.severity]
