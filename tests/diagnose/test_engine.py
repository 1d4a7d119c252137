import pytest

from grpo_gui.diagnose.detectors import DETECTORS
from grpo_gui.diagnose.engine import CLOSE_AFTER, Diagnosis
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.finding import FindingState
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from tests.diagnose.runs import group_of, watch


def detector(name, series, **changes):
    """An alarm while the series is 1 or more; severity 2 below 5, else 3."""

    def check(history, facts):
        value = float(history.tail(series, 1)[0])
        return Reading(value >= 1, value, 1.0, Severity.SEVERE if value >= 5 else Severity.WARNING)

    def words(reading, facts):
        return Words(f"It is {reading.value:g}.", "A detail.", Action("Do it."))

    return Detector(name, name.title(), (series,), check, words, "a measure", **({"hold": 3} | changes))


A = detector("a", "x")
B = detector("b", "y", roots=("a",))
C = detector("c", "z", roots=("b",))


def test_that_an_alarm_must_hold():
    watched = watch(A, steps=20, x=lambda step: 1.0 if step % 3 else 0.0)
    assert watched.changes == []
    step, finding = watch(A, steps=20, x=lambda step: 1.0 if step >= 7 else 0.0).first
    assert (step, finding.onset, finding.noticed, finding.state) == (9, 7, 9, FindingState.OPEN)


def test_that_severity_only_rises_and_the_sentence_is_that_of_the_rise():
    watched = watch(A, steps=20, x=lambda step: {10: 7.0}.get(step, 1.0))
    assert [(step, finding.severity, finding.headline) for step, finding in watched.changes] == [
        (3, Severity.WARNING, "It is 1."),
        (10, Severity.SEVERE, "It is 7."),
    ]
    assert watched.diagnosis.findings[0].onset == 1
    assert watched.diagnosis.findings[0].seen == 20


def test_that_a_finding_closes_when_it_is_gone_and_opens_again():
    end = 10 + CLOSE_AFTER
    watched = watch(A, steps=end + 20, x=lambda step: 1.0 if step <= 10 or step > end + 5 else 0.0)
    assert [(step, finding.state) for step, finding in watched.changes] == [
        (3, FindingState.OPEN),
        (end, FindingState.CLOSED),
        (end + 8, FindingState.OPEN),
    ]
    assert [moment.text for moment in watched.diagnosis.findings[0].history] == [
        "opened, warning",
        "closed: not seen any more",
        "opened",
    ]


def test_that_a_symptom_names_its_root_and_does_not_count():
    watched = watch(A, B, C, steps=20, x=1.0, y=1.0, z=1.0)
    by_name = {finding.detector: finding for finding in watched.diagnosis.findings}
    assert (by_name["b"].state, by_name["b"].root) == (FindingState.SYMPTOM, "a")
    assert (by_name["c"].state, by_name["c"].root) == (FindingState.SYMPTOM, "b")
    assert watched.names == ["a"]
    assert {finding.detector for finding in watched.diagnosis.symptoms_of("a")} == {"b", "c"}


def test_that_a_root_that_comes_later_takes_its_symptom_over():
    watched = watch(A, B, steps=20, x=lambda step: 1.0 if step > 8 else 0.0, y=1.0)
    assert watched.names == ["b", "a"]
    assert [(finding.detector, finding.state) for finding in watched.diagnosis.findings] == [
        ("a", FindingState.OPEN),
        ("b", FindingState.SYMPTOM),
    ]


def test_that_of_two_that_explain_each_other_the_first_is_the_root():
    first, second = detector("d", "x", roots=("e",)), detector("e", "y", roots=("d",))
    watched = watch(first, second, steps=20, x=lambda step: 1.0 if step > 5 else 0.0, y=1.0)
    assert watched.names == ["e"]
    both = watch(first, second, steps=20, x=1.0, y=1.0)
    assert len(both.names) == 1


def test_that_a_symptom_whose_root_is_gone_stands_by_itself():
    watched = watch(A, B, steps=30 + CLOSE_AFTER, x=lambda step: 1.0 if step <= 10 else 0.0, y=1.0)
    states = {finding.detector: finding.state for finding in watched.diagnosis.findings}
    assert states == {"a": FindingState.CLOSED, "b": FindingState.OPEN}


def test_that_a_symptom_that_closes_never_was_a_finding():
    end = 10 + CLOSE_AFTER
    watched = watch(A, B, steps=end, x=1.0, y=lambda step: 1.0 if step <= 10 else 0.0)
    closed = next(finding for finding in watched.diagnosis.findings if finding.detector == "b")
    assert (closed.state, closed.root, closed.is_finding) == (FindingState.CLOSED, "a", False)
    assert watched.names == ["a"]


def test_that_at_most_three_are_open_the_most_severe_first_and_muted_ones_left_out():
    many = [detector(name, name) for name in "pqrst"]
    watched = watch(*many, steps=5, p=1.0, q=1.0, r=6.0, s=1.0, t=1.0)
    shown = [finding.detector for finding in watched.diagnosis.open_findings()]
    assert shown == ["r", "p", "q"]
    assert [f.detector for f in watched.diagnosis.open_findings(muted={"r", "p"})] == ["q", "s", "t"]


def test_that_what_a_solved_task_shows_is_closed_with_the_reason():
    hidden = detector("h", "x", hidden_when_solved=True)
    watched = watch(hidden, steps=30, x=1.0, eval__accuracy=lambda step: 0.99 if step >= 10 else 0.5)
    assert watched.changes[-1][1].history[-1].text == "closed: the task is solved"
    assert watched.diagnosis.mastered_since == 11


def test_that_a_detector_is_asked_only_when_its_series_brings_news():
    watched = watch(A, steps=30, x=lambda step: 1.0 if step % 10 == 0 else None)
    step, finding = watched.first
    assert (step, finding.onset) == (30, 10)


def test_that_missing_series_are_told():
    watched = watch(A, steps=5, y=1.0)
    assert watched.reading("a") is Missing.NOT_RECORDED


def test_that_a_measure_can_be_plotted():
    watched = watch(A, steps=5, x=lambda step: step / 10)
    steps, values = watched.diagnosis.measure("a")
    assert steps.tolist() == [1, 2, 3, 4, 5]
    assert values.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])


def messy(step):
    """A run with trouble of several kinds."""
    return {
        "reward": 0.6 if step < 30 else 0.1,
        "reward_std": 0.45,
        "kl": 0.02 * step,
        "entropy": max(0.01, 2.0 - 0.03 * step),
        "frac_reward_zero_std": min(1.0, 0.012 * step),
        "completions/clipped_ratio": 0.2 if step > 40 else 0.0,
        "grad_norm": 40.0 if step % 17 == 0 else 1.0,
        **({"eval/accuracy": 0.5} if step % 10 == 0 else {}),
    }


def messy_groups(step):
    return (group_of([1, 0, 0, 0]), group_of([0] * 4, index=1, texts=["same"] * 4))


def test_that_a_run_that_goes_back_ends_like_one_that_never_did():
    straight, back = Diagnosis(RunFacts()), Diagnosis(RunFacts())
    for step in range(1, 91):
        straight.feed_step(step, messy(step), messy_groups(step))
    for step in [*range(1, 61), *range(40, 91)]:
        metrics = messy(step) if step != 50 or back.history.step == 49 else {}
        back.feed_step(step, metrics, messy_groups(step))
    assert strip(back) == strip(straight)
    assert back.prompts.records() == straight.prompts.records()
    assert {finding.detector for finding in straight.findings} >= {"kl_runaway", "reward_falls"}


def strip(diagnosis):
    return [(f.detector, f.state, f.severity, f.onset, f.noticed, f.headline, f.history) for f in diagnosis.findings]


def test_that_evaluations_may_come_with_their_step_or_after_it():
    apart, together = Diagnosis(RunFacts()), Diagnosis(RunFacts())
    for step in range(1, 91):
        metrics = messy(step)
        together.feed_step(step, metrics, messy_groups(step))
        late = {name: value for name, value in metrics.items() if name.startswith("eval/")}
        apart.feed_step(step, {n: v for n, v in metrics.items() if n not in late}, messy_groups(step))
        if late:
            apart.feed_after(step, late)
    assert strip(apart) == strip(together)


def test_that_every_root_is_a_detector_and_every_name_is_used_once():
    names = [one.name for one in DETECTORS]
    assert len(set(names)) == len(names)
    for one in DETECTORS:
        assert set(one.roots) <= set(names) - {one.name}


def test_that_only_broken_invariants_pause():
    assert {one.name for one in DETECTORS if one.pauses} == {
        "not_finite",
        "fresh_ratio",
        "kl_estimate",
        "group_sums",
        "wrong_mask",
        "weights_stuck",
        "stale_export",
    }
