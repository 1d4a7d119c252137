"""The what-if computation beside the GUI thread: over all stored steps, with progress and a way to stop it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np
from PySide6.QtCore import QObject, Signal

from grpo_gui.diagnose.evidence import StepGroups
from grpo_gui.diagnose.what_if import Recomputed, Settings, what_if
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import SeriesPoints
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.workspace import Workspace

STEPS_AT_ONCE = 25
RECORDED = {
    "reward": "reward",
    "dead_groups": "frac_reward_zero_std",
    "advantage_std": "advantage/std",
}
"""Curve of `Recomputed` -> the metric that the run recorded for it; clipping is recomputed for both."""


@dataclass(frozen=True, slots=True)
class WhatIfResult:
    """The recomputed curves, those of the same samples under the run's own settings, and the recorded ones."""

    run_id: int
    settings: Settings
    changed: Recomputed
    as_it_was: Recomputed
    recorded: dict[str, SeriesPoints]  # by curve


def own_settings(config: TrainConfig | None) -> Settings:
    """The settings that a run had; the defaults for a run whose settings are not known."""
    if config is None:
        return Settings()
    return Settings(
        group_size=None,
        scale_rewards=config.scale_rewards,
        aggregation=config.multi_objective_aggregation,
        advantage_std=config.advantage_std,
        advantage_eps=config.advantage_eps,
        epsilon=config.epsilon,
        epsilon_high=config.epsilon_high,
        weights=tuple((spec.name, spec.weight) for spec in config.rewards),
    )


class WhatIfJob(QObject):
    """One computation at a time; `progressed` gives steps done and all."""

    progressed = Signal(int, int)

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._stop: threading.Event | None = None

    @property
    def is_running(self) -> bool:
        """True from `start` until `done` or `failed` was called."""
        return self._stop is not None

    def start(
        self,
        run_id: int,
        settings: Settings,
        own: Settings,
        done: Callable[[WhatIfResult | None], None],
        failed: Callable[[str], None],
    ) -> None:
        """Begin; `done` gets None when it was cancelled, `failed` a sentence."""
        stop = self._stop = threading.Event()

        def work(reader: StoreReader) -> WhatIfResult | None:
            return recompute(reader, run_id, settings, own, stop, self.progressed.emit)

        def finish(result: WhatIfResult | None) -> None:
            self._stop = None
            done(result)

        def fail(failure: TaskFailure) -> None:
            self._stop = None
            failed(failure.message)

        self._workspace.read(work, finish, fail)

    def cancel(self) -> None:
        """Stop at the next steps."""
        if self._stop is not None:
            self._stop.set()


def recompute(
    reader: StoreReader,
    run_id: int,
    settings: Settings,
    own: Settings,
    stop: threading.Event,
    progress: Callable[[int, int], None],
) -> WhatIfResult | None:
    """Recompute all stored steps of a run; None when `stop` was set meanwhile.

    Raises:
        BadInputError: the settings ask for more than the samples hold.
    """
    total = reader.newest_step(run_id) or 0
    parts: list[tuple[Recomputed, Recomputed]] = []
    waiting: list[StepGroups] = []

    def flush() -> None:
        seeded = replace(settings, seed=settings.seed + len(parts))
        parts.append((what_if(waiting, seeded), what_if(waiting, own)))
        progress(waiting[-1].step, total)
        waiting.clear()

    for row in reader.diagnosis_steps(run_id):
        if stop.is_set():
            return None
        if row.groups:
            waiting.append(StepGroups(row.step, row.groups))
        if len(waiting) == STEPS_AT_ONCE:
            flush()
    if waiting:
        flush()
    recorded = {curve: reader.points(run_id, name) for curve, name in RECORDED.items()}
    changed, as_it_was = _joined([one for one, _ in parts]), _joined([one for _, one in parts])
    return WhatIfResult(run_id, settings, changed, as_it_was, recorded)


def _joined(parts: list[Recomputed]) -> Recomputed:
    if not parts:
        return what_if((), Settings())
    return Recomputed(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Recomputed)))
