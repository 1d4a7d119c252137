"""What is read beside the curves of the overlaid runs: changes of settings, shared prompts, answers, findings."""

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from grpo_gui.diagnose.finding import Finding
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import ChangeRecord
from grpo_gui.store.records_runs import SharedPrompt
from grpo_gui.training.diagnosing import findings_of, stored_findings
from grpo_gui.ui.models.run_overlay import RunOverlay
from grpo_gui.ui.models.same_prompt import Answers, nearest, read_answers
from grpo_gui.ui.workspace import Workspace

DIAGNOSED_AT_ONCE = 500  # steps up to which a run without stored findings is diagnosed: under a second
RunFindings = tuple[tuple[Finding, ...], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Beside:
    """What belongs to a set of runs."""

    run_ids: tuple[int, ...]
    changes: dict[int, tuple[ChangeRecord, ...]]
    prompts: tuple[SharedPrompt, ...]
    findings: dict[int, RunFindings]  # of the runs that were diagnosed, or are now because they are short


class RunsComparison(QObject):
    """Reads for the runs of an overlay; the newest question counts."""

    changed = Signal()  # `beside` is another one
    answered = Signal(object)  # list[Answers]
    prompt_offered = Signal(object)  # SharedPrompt near a step

    def __init__(self, workspace: Workspace, overlay: RunOverlay) -> None:
        super().__init__()
        self._workspace, self._overlay = workspace, overlay
        self.beside = Beside((), {}, (), {})
        self._found: dict[tuple[int, int], tuple[Finding, ...]] = {}  # by run and its steps when it was diagnosed
        overlay.runs_changed.connect(self.refresh)

    def refresh(self) -> None:
        """Read again for the runs that are overlaid now."""
        steps = {overlaid.run.id: overlaid.run.steps_done for overlaid in self._overlay.runs}
        known = {run_id: self._found[run_id, done] for run_id, done in steps.items() if (run_id, done) in self._found}
        self._workspace.read(lambda reader: read_beside(reader, steps, known), self._take, key="runs.beside")

    def ask(self, prompt: SharedPrompt) -> None:
        """Read the answers to a prompt, from groups near its newest common step."""
        run_ids = [overlaid.run.id for overlaid in self._overlay.runs]
        near = min(step for _, step in prompt.steps)
        self._workspace.read(
            lambda reader: read_answers(reader, run_ids, prompt.prompt, near), self._answered, key="runs.answers"
        )

    def ask_near(self, step: int) -> None:
        """Offer the shared prompt whose groups lie nearest to a step."""
        found = nearest(self.beside.prompts, step)
        if found is not None:
            self.prompt_offered.emit(found)

    def _take(self, beside: Beside) -> None:
        self.beside = beside
        for overlaid in self._overlay.runs:
            if overlaid.run.id in beside.findings and not overlaid.run.status.is_active:
                self._found[overlaid.run.id, overlaid.run.steps_done] = beside.findings[overlaid.run.id][0]
        self.changed.emit()

    def _answered(self, answers: list[Answers]) -> None:
        self.answered.emit(answers)


def read_beside(reader: StoreReader, steps: Mapping[int, int], known: Mapping[int, tuple[Finding, ...]]) -> Beside:
    """Read what belongs to runs, given with their steps; findings that are `known` are not looked for again."""
    run_ids = tuple(steps)
    findings: dict[int, RunFindings] = {}
    for run_id in run_ids:
        is_short = steps[run_id] <= DIAGNOSED_AT_ONCE
        found = known.get(run_id) or (findings_of if is_short else stored_findings)(reader, run_id)
        if found or is_short:
            findings[run_id] = found, reader.muted_findings(run_id)
    return Beside(
        run_ids,
        {run_id: reader.changes(run_id) for run_id in run_ids},
        reader.shared_prompts(run_ids) if len(run_ids) > 1 else (),
        findings,
    )
