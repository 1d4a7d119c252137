"""How the selected run uses ratings: what its config says, what was changed since, and whether an update waits."""

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from grpo_gui.commands import ContinueWithout, SetRatingMode, SetRatingShrink
from grpo_gui.events import Event, RatingModeSet, RunStatus
from grpo_gui.rating.progress import RatingRules
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import RunRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.rating_rules import awaited_step, has_human_reward, rating_rules
from grpo_gui.ui.workspace import Workspace

# Of a run that does not learn from ratings: any of its groups can be rated.
_UNUSED = RatingRules(
    "offline", 0.0, False, False, quorum=1, max_age=1, late_share=0.25, prompts_per_step=1, num_generations=1
)

Changes = tuple[int, str | None, bool | None]  # run id, mode and shrink, None where they are as the config says


class RatingUse(QObject):
    """`changed` when something else holds; `awaits_changed` when another update waits for ratings, or none."""

    changed = Signal()
    awaits_changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._run_id = 0
        self._config: TrainConfig | None = None
        self._mode: str | None = None  # as it was changed last; None: as the config says
        self._shrinks: bool | None = None
        self._awaited: int | None = None
        workspace.run_selected.connect(self._select)
        workspace.run_updated.connect(self._update)
        workspace.events.connect(self._take_events)
        workspace.handle_changed.connect(self.changed)
        self._select(workspace.run)

    @property
    def has_human(self) -> bool:
        """True when ratings are a source of the run's reward."""
        return self._config is not None and has_human_reward(self._config)

    @property
    def rules(self) -> RatingRules:
        """What holds now."""
        rules = rating_rules(self._config, self._mode) if self._config is not None else None
        if rules is None:
            return _UNUSED
        return rules if self._shrinks is None else replace(rules, shrinks=self._shrinks)

    @property
    def max_age(self) -> int | None:
        """Steps after which a group is not shown any more; None: none is too old, such as in a run at rest."""
        run, rules = self._workspace.run, self.rules
        return rules.max_age if run is not None and run.status.is_active and rules.mode != "offline" else None

    @property
    def awaited_step(self) -> int | None:
        """The step whose update waits for ratings."""
        return self._awaited

    @property
    def can_change(self) -> bool:
        """True while a command reaches the selected run, or while it is at rest."""
        run = self._workspace.run
        return run is not None and (self._is_reached or not run.status.is_active)

    def waiting_text(self) -> str:
        """What the update waits for and how long already; empty when it does not."""
        run = self._workspace.run
        return run.message if self._awaited is not None and run is not None else ""

    def set_mode(self, mode: str) -> None:
        """Use ratings in another way from the next step on."""
        run = self._workspace.run
        if run is None or mode == self.rules.mode:
            return
        self._mode = mode
        if self._is_reached:
            self._workspace.post(SetRatingMode(mode))
        else:
            change = RatingModeSet(run.id, run.steps_done, mode)
            self._workspace.write(lambda writer: writer.emit(change), self._kept)
        self.changed.emit()

    def set_shrink(self, on: bool) -> None:
        """Let the weight of ratings shrink with unreliability, or not."""
        self._shrinks = on
        self._workspace.post(SetRatingShrink(on))
        self.changed.emit()

    def go_on(self) -> None:
        """Let the waiting update go on with the ratings that are there."""
        self._workspace.post(ContinueWithout())

    @property
    def _is_reached(self) -> bool:
        workspace = self._workspace
        return workspace.is_selected_trained_here or (workspace.can_post and not workspace.is_training)

    def _select(self, run: RunRecord | None) -> None:
        run_id = run.id if run is not None else 0
        if run_id != self._run_id:
            self._run_id, self._mode, self._shrinks = run_id, None, None
            self._config = self._workspace.selected_config()
            if self.has_human:
                self._workspace.read(partial(_changes_of, run_id=run_id), self._take_changes)
        if run is not None:
            self._update(run)
        self.changed.emit()

    def _update(self, run: RunRecord) -> None:
        awaited = awaited_step(run.message) if run.status is RunStatus.WAITING else None
        if awaited != self._awaited:
            self._awaited = awaited
            self.awaits_changed.emit()
            self.changed.emit()

    def _take_changes(self, answer: Changes) -> None:
        run_id, mode, shrinks = answer
        if run_id == self._run_id:
            self._mode, self._shrinks = self._mode or mode, shrinks if self._shrinks is None else self._shrinks
            self.changed.emit()

    def _take_events(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, RatingModeSet):
                self._mode = event.mode
                self.changed.emit()

    def _kept(self, _: None) -> None:
        self.changed.emit()


def _changes_of(reader: StoreReader, run_id: int) -> Changes:
    """What was changed since the run began."""
    shrinks = [change.new for change in reader.changes(run_id) if change.name == "rating_shrink"]
    return run_id, reader.rating_mode(run_id), bool(shrinks[-1]) if shrinks else None
