from grpo_gui.diagnose.detectors.length_pays import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import group_of, watch

PAID = group_of([0.0, 0.3, 0.6, 0.9], lengths=[2, 4, 6, 8])
UNPAID = group_of([0.9, 0.3, 0.6, 0.0], lengths=[2, 4, 6, 8])


def grows(step):
    return 5.0 if step <= 20 else 5.0 + 0.3 * (step - 20)


def test_that_pay_for_length_is_found_once_the_answers_grow():
    facts = RunFacts(sources=(("contains + length", "contains_plus_length", 1.0),))
    watched = watch(DETECTOR, steps=40, facts=facts, groups=lambda step: (PAID, PAID), completions__mean_length=grows)
    step, finding = watched.first
    assert 25 < step < 32
    assert "(contains + length)" in finding.action.sentence
    assert finding.evidence[0].completion == 3


def test_that_longer_answers_may_be_better_while_their_length_stays():
    assert watch(DETECTOR, steps=60, groups=lambda step: (PAID, PAID), completions__mean_length=5.0).names == []


def test_that_growth_without_pay_is_none():
    assert watch(DETECTOR, steps=60, groups=lambda step: (UNPAID, UNPAID), completions__mean_length=grows).names == []


def test_that_samples_are_needed():
    assert watch(DETECTOR, steps=60, completions__mean_length=grows).reading("length_pays") is Missing.NOT_RECORDED
    few = watch(DETECTOR, steps=3, groups=lambda step: (PAID,), completions__mean_length=5.0)
    assert few.reading("length_pays") is Missing.NOT_ENOUGH
