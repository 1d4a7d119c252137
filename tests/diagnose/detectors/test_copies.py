from grpo_gui.diagnose.detectors.copies import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import group_of, watch

COLD = RunFacts(num_generations=4, temperature=0.2)
WARM = RunFacts(num_generations=4, temperature=1.0)
RIGHT = group_of([1, 1, 1, 1], ["a"] * 4)
WRONG = group_of([0, 0, 0, 0], ["b"] * 4, index=1)
MIXED = group_of([1, 0, 0, 0], ["a", "b", "c", "d"], index=2)


def test_that_copies_from_the_first_step_on_at_a_low_temperature_are_a_finding():
    watched = watch(DETECTOR, steps=30, facts=COLD, groups=lambda step: (RIGHT, RIGHT, WRONG, MIXED))
    step, finding = watched.first
    assert (step, finding.onset) == (14, 10)
    assert (finding.action.setting, finding.action.value, finding.action.live) == ("temperature", 1.0, True)
    assert "2 of 4" not in finding.detail
    assert finding.evidence[0].group == 1


def test_that_copies_that_come_with_success_are_none():
    def learning(step):
        return (MIXED,) * 4 if step < 10 else (RIGHT, RIGHT, RIGHT, MIXED)

    assert watch(DETECTOR, steps=60, facts=WARM, groups=learning).names == []


def test_that_copies_of_wrong_answers_are_a_finding_at_any_temperature():
    def collapsing(step):
        return (MIXED,) * 4 if step < 10 else (RIGHT, WRONG, WRONG, MIXED)

    watched = watch(DETECTOR, steps=60, facts=WARM, groups=collapsing)
    assert watched.names == ["copies"]
    assert watched.first[1].action.setting == "beta"


def test_that_two_possible_answers_are_no_copies():
    two = group_of([1, 0, 1, 0], ["yes", "no", "yes", "no"])
    assert watch(DETECTOR, steps=60, facts=WARM, groups=lambda step: (two,) * 4).names == []


def test_that_without_samples_nothing_is_said():
    assert watch(DETECTOR, steps=30, reward=1.0).reading("copies") is Missing.NOT_RECORDED
    assert watch(DETECTOR, steps=9, groups=lambda step: (WRONG,)).reading("copies") is Missing.NOT_ENOUGH
