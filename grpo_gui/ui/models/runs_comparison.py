"""What is read beside the curves of the overlaid runs: changes of settings, shared prompts, answers, findings."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from grpo_gui.diagnose.codec import finding_from_json
from grpo_gui.diagnose.finding import Finding
from grpo_gui.errors import BadInputError
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import ChangeRecord
from grpo_gui.store.records_runs import SharedPrompt
from grpo_gui.ui.models.run_overlay import RunOverlay
from grpo_gui.ui.models.same_prompt import Answers, nearest, read_answers
from grpo_gui.ui.workspace import Workspace

RunFindings = tuple[tuple[Finding, ...], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Beside:
    """What belongs to a set of runs."""

    run_ids: tuple[int, ...]
    changes: dict[int, tuple[ChangeRecord, ...]]
    prompts: tuple[SharedPrompt, ...]
    findings: dict[int, RunFindings]


class RunsComparison(QObject):
    """Reads for the runs of an overlay; the newest question counts."""

    changed = Signal()  # `beside` is another one
    answered = Signal(object)  # list[Answers]
    prompt_offered = Signal(object)  # SharedPrompt near a step

    def __init__(self, workspace: Workspace, overlay: RunOverlay) -> None:
        super().__init__()
        self._workspace, self._overlay = workspace, overlay
        self.beside = Beside((), {}, (), {})
        overlay.runs_changed.connect(self.refresh)

    def refresh(self) -> None:
        """Read again for the runs that are overlaid now."""
        run_ids = tuple(overlaid.run.id for overlaid in self._overlay.runs)
        self._workspace.read(lambda reader: read_beside(reader, run_ids), self._take, key="runs.beside")

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
        self.changed.emit()

    def _answered(self, answers: list[Answers]) -> None:
        self.answered.emit(answers)


def read_beside(reader: StoreReader, run_ids: Sequence[int]) -> Beside:
    """Read what belongs to these runs."""
    return Beside(
        tuple(run_ids),
        {run_id: reader.changes(run_id) for run_id in run_ids},
        reader.shared_prompts(run_ids) if len(run_ids) > 1 else (),
        {run_id: (_findings(reader, run_id), reader.muted_findings(run_id)) for run_id in run_ids},
    )


def _findings(reader: StoreReader, run_id: int) -> tuple[Finding, ...]:
    found = []
    for record in reader.findings(run_id):
        try:
            found.append(finding_from_json(record.document))
        except BadInputError:
            continue  # of another version of the diagnosis
    return tuple(found)
