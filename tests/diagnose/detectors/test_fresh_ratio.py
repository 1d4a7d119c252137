from grpo_gui.diagnose.detectors.fresh_ratio import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import watch

NAMES = {"check__first_ratio": 0.01}


def test_that_a_ratio_that_is_not_one_is_found_at_the_first_step():
    step, finding = watch(DETECTOR, steps=3, **NAMES).first
    assert (step, finding.pauses) == (1, True)


def test_that_bfloat16_may_round():
    assert watch(DETECTOR, steps=3, facts=RunFacts(bf16=True), **NAMES).names == []
    assert watch(DETECTOR, steps=3, check__first_ratio=1e-6).names == []


def test_that_other_trainers_are_left_alone():
    assert watch(DETECTOR, steps=3, reward=1.0).reading("fresh_ratio") is Missing.NOT_RECORDED
