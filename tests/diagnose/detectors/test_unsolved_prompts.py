from grpo_gui.diagnose.detectors.unsolved_prompts import DETECTOR
from grpo_gui.diagnose.reading import Missing, Severity
from tests.diagnose.runs import group_of, watch


def prompts(step, right):
    """Ten prompts in turn, two a step; the first `right` of them are answered rightly half of the time."""
    chosen = (2 * step % 10, (2 * step + 1) % 10)
    return tuple(
        group_of([1, 0] * 4 if number < right else [0] * 8, index=place, prompt=f"prompt {number}")
        for place, number in enumerate(chosen)
    )


def test_that_prompts_that_are_never_solved_are_a_note():
    watched = watch(DETECTOR, steps=60, groups=lambda step: prompts(step, 4))
    step, finding = watched.first
    assert 30 <= step <= 40
    assert (finding.severity, finding.value) == (Severity.NOTE, 0.6)
    assert len(watched.diagnosis.prompts.never_solved()) == 6


def test_that_a_few_are_none():
    assert watch(DETECTOR, steps=60, groups=lambda step: prompts(step, 7)).names == []


def test_that_ever_new_prompts_cannot_be_judged():
    watched = watch(DETECTOR, steps=60, groups=lambda step: (group_of([0] * 8, prompt=str(step)),))
    assert watched.reading("unsolved_prompts") is Missing.NOT_RECORDED
