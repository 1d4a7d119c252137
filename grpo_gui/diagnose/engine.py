"""The diagnosis of one run: feed it the run step by step, ask it for the findings."""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from grpo_gui.diagnose.detectors import DETECTORS
from grpo_gui.diagnose.evidence import StepGroups
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.finding import Finding, FindingState, Moment
from grpo_gui.diagnose.history import Float64Array, History, Int64Array
from grpo_gui.diagnose.prompts import PromptOutcomes
from grpo_gui.diagnose.reading import Detector, Missing, Reading
from grpo_gui.diagnose.sample_values import outcomes, sample_values
from grpo_gui.diagnose.sampled import SampledGroup
from grpo_gui.diagnose.solved import is_mastered
from grpo_gui.diagnose.step_values import completed

MOST_OPEN = 3
CLOSE_AFTER = 40  # readings without an alarm
GROUPS_KEPT = 5  # newest steps whose samples can become evidence
AFTER_STEP = ("eval/", "snapshot/")  # what series begin with that are measured after their step


@dataclass(slots=True)
class _Watch:
    """What the diagnosis remembers of one detector."""

    detector: Detector
    series: str  # where its measure is kept
    is_known: bool = False  # every series that it needs has come
    streak: int = 0  # alarms in a row
    quiet: int = 0  # readings without an alarm in a row
    streak_start: int = 0
    reading: Reading | Missing = Missing.NOT_RECORDED
    finding: Finding | None = None


class Diagnosis:
    """Turns a run into findings: the same ones whether it is fed while the run goes on or afterwards.

    Feed every step once, in order; the evaluation after a step comes after it. A step that is not above the last
    one means that the run was resumed from an earlier step: what came after that is forgotten.
    """

    def __init__(self, facts: RunFacts, detectors: Sequence[Detector] = DETECTORS) -> None:
        self.facts = facts
        self.detectors = tuple(detectors)
        self._begin()

    def _begin(self) -> None:
        self.history = History()
        self.prompts = PromptOutcomes()
        self._groups: deque[StepGroups] = deque(maxlen=GROUPS_KEPT)
        self._watches = {detector.name: _Watch(detector, f"measure/{detector.name}") for detector in self.detectors}
        self._mastered_since: int | None = None

    # -- feeding ------------------------------------------------------------------------------------

    def feed_step(
        self, step: int, metrics: Mapping[str, float], groups: Sequence[SampledGroup] = ()
    ) -> tuple[Finding, ...]:
        """Take in a completed step; return the findings that changed by it.

        `metrics` carry TRL's names; those of `AFTER_STEP` among them count as measured after the step.
        """
        if self.history.rows and step <= self.history.step:
            self._go_back(step)
        samples = sample_values(groups, self.facts)
        self.prompts.add(step, outcomes(groups))
        if groups:
            self._groups.append(StepGroups(step, groups))
        never = self.prompts.never_solved_share()
        if never is not None:
            samples["prompts/never_solved"] = never
        return self._take(step, completed(metrics, samples))

    def feed_after(self, step: int, values: Mapping[str, float]) -> tuple[Finding, ...]:
        """Take in what was measured after `step` (0: before training): held-out prompts, a snapshot.

        Returns the findings that changed by it.
        """
        if self.history.rows and step < self.history.step:
            self._go_back(step + 1)
        self.history.append(step, values)
        asked = [watch for watch in self._watches.values() if watch.detector.needs[0] in values]
        for watch in asked:
            self._read(watch)
        changed = [self._judge(watch, self.history.mastered) for watch in asked]
        return tuple(finding for finding in changed if finding is not None)

    def feed_failure(self, message: str) -> tuple[Finding, ...]:
        """Take in that the run ended by an error; one about numbers that are not finite is a finding."""
        if "not finite" not in message:
            return ()
        what = "gradient" if "gradient" in message else "loss"
        return self._take(self.history.step + 1, {f"broken/{what}": 1.0})

    def _take(self, step: int, values: Mapping[str, float]) -> tuple[Finding, ...]:
        late = {name: value for name, value in values.items() if name.startswith(AFTER_STEP)}
        now = {name: value for name, value in values.items() if name not in late} if late else values
        self.history.append(step, {"rows": 1.0, **now})
        self.history.rows += 1
        mastered = self.history.mastered = is_mastered(self.history)
        if not mastered:
            self._mastered_since = None
        elif self._mastered_since is None:
            self._mastered_since = step
        for watch in self._watches.values():
            self._read(watch)
        changed = [self._judge(watch, mastered) for watch in self._watches.values()]
        after = self.feed_after(step, late) if late else ()
        return (*(finding for finding in changed if finding is not None), *after)

    def _go_back(self, step: int) -> None:
        """Forget everything from `step` on, by living through what came before once more."""
        old, prompts = self.history, self.prompts
        self._begin()
        prompts.forget_from(step)
        self.prompts = prompts
        for past, values in old.rows_before(step):
            training = {name: value for name, value in values.items() if not name.startswith("measure/")}
            if all(name.startswith(AFTER_STEP) for name in training):
                self.feed_after(past, training)
            else:
                self._take(past, training)

    # -- judging ------------------------------------------------------------------------------------

    def _read(self, watch: _Watch) -> None:
        """Ask a detector, when the step at hand brought news for it."""
        detector, history = watch.detector, self.history
        if not history.is_fresh(detector.needs[0]):
            return
        if not watch.is_known:
            if not all(map(history.has, detector.needs)):
                return
            watch.is_known = True
        reading = detector.check(history, self.facts)
        watch.reading = reading
        if isinstance(reading, Missing):
            watch.streak = 0
            return
        history.add(watch.series, reading.value)
        if reading.alarm:
            watch.streak_start = watch.streak_start if watch.streak else history.step
            watch.streak += 1
            watch.quiet = 0
        else:
            watch.streak = 0
            watch.quiet += 1

    def _judge(self, watch: _Watch, mastered: bool) -> Finding | None:
        """Open, worsen, explain or close the finding of a detector; return it when it changed."""
        reading, old = watch.reading, watch.finding
        if isinstance(reading, Missing):
            return None
        hidden = mastered and watch.detector.hidden_when_solved
        if watch.streak >= watch.detector.hold and not hidden:
            new = self._opened(watch, reading)
        elif old is not None and old.state is not FindingState.CLOSED and (hidden or watch.quiet >= CLOSE_AFTER):
            reason = "closed: the task is solved" if hidden else "closed: not seen any more"
            new = replace(old, state=FindingState.CLOSED, history=(*old.history, self._moment(reason)))
        else:
            return None
        watch.finding = new
        return None if old is not None and replace(old, seen=new.seen) == new else new

    def _opened(self, watch: _Watch, reading: Reading) -> Finding:
        root = self._root_of(watch)
        state = FindingState.SYMPTOM if root else FindingState.OPEN
        old = watch.finding
        if old is None or reading.severity > old.severity:
            return self._worded(watch, reading, state, root)
        moments = old.history
        if state is not old.state or root != old.root:
            moments = (*moments, self._moment(self._state_words(state, root)))
        return replace(old, state=state, root=root, seen=self.history.step, history=moments)

    def _worded(self, watch: _Watch, reading: Reading, state: FindingState, root: str) -> Finding:
        detector, old = watch.detector, watch.finding
        words = detector.words(reading, self.facts)
        said = f"{self._state_words(state, root)}, {reading.severity.label}"
        return Finding(
            detector=detector.name,
            title=detector.title,
            severity=reading.severity,
            state=state,
            onset=watch.streak_start if old is None else old.onset,
            noticed=self.history.step if old is None else old.noticed,
            seen=self.history.step,
            headline=words.headline,
            detail=words.detail,
            causes=words.causes,
            action=words.action,
            measure=detector.measure,
            value=reading.value,
            threshold=reading.threshold,
            evidence=detector.evidence(tuple(self._groups)),
            root=root,
            pauses=detector.pauses,
            history=(*(() if old is None else old.history), self._moment(said)),
        )

    def _root_of(self, watch: _Watch) -> str:
        """The detector that explains this one now, or empty: one that is in alarm and not itself explained by it."""
        for name in watch.detector.roots:
            other = self._watches.get(name)
            if other is None or not (other.streak or _lives(other.finding)):
                continue
            if other.finding is not None and other.finding.root == watch.detector.name:
                continue
            mutual = watch.detector.name in other.detector.roots
            if mutual and watch.finding is not None and watch.finding.state is FindingState.OPEN:
                continue  # of two that explain each other, the one that came first is the root
            return name
        return ""

    def _moment(self, text: str) -> Moment:
        return Moment(self.history.step, text)

    def _state_words(self, state: FindingState, root: str) -> str:
        if state is FindingState.SYMPTOM:
            return f"explained by: {self._watches[root].detector.title.lower()}"
        return "opened"

    # -- asking -------------------------------------------------------------------------------------

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding there has been, symptoms and closed ones included: open first, then by severity and onset."""
        found = [watch.finding for watch in self._watches.values() if watch.finding is not None]
        return tuple(sorted(found, key=_order))

    def open_findings(self, muted: Collection[str] = ()) -> tuple[Finding, ...]:
        """What to show now: at most three, the most severe first; `muted` names detectors to leave out."""
        shown = [one for one in self.findings if one.state is FindingState.OPEN and one.detector not in muted]
        return tuple(shown[:MOST_OPEN])

    def symptoms_of(self, detector: str) -> tuple[Finding, ...]:
        """The findings that a finding explains, also by way of others."""
        symptoms = {one.detector: one for one in self.findings if one.state is FindingState.SYMPTOM}
        return tuple(one for one in symptoms.values() if _last_root(one, symptoms) == detector)

    @property
    def mastered_since(self) -> int | None:
        """Since which step the task counts as solved or nearly solved (a status, no finding); None: it is not."""
        return self._mastered_since

    def readings(self) -> dict[str, Reading | Missing]:
        """The newest reading of every detector, or why there is none."""
        return {name: watch.reading for name, watch in self._watches.items()}

    def measure(self, detector: str) -> tuple[Int64Array, Float64Array]:
        """What a detector measured so far, for the plot of its finding: steps and values."""
        name = f"measure/{detector}"
        return self.history.steps(name), self.history.values(name)


def _lives(finding: Finding | None) -> bool:
    return finding is not None and finding.state is not FindingState.CLOSED


def _last_root(finding: Finding, symptoms: Mapping[str, Finding]) -> str:
    seen = {finding.detector}
    while finding.root in symptoms and finding.root not in seen:
        finding = symptoms[finding.root]
        seen.add(finding.detector)
    return finding.root


def _order(finding: Finding) -> tuple[int, int, int]:
    place = (FindingState.OPEN, FindingState.SYMPTOM, FindingState.CLOSED).index(finding.state)
    return place, -finding.severity, finding.onset
