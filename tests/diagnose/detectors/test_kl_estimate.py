from grpo_gui.diagnose.detectors.kl_estimate import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import Completion, Group, logps, watch


def sampled(gap):
    one = Completion(old_logps=logps(-1.0, -2.0), logps=logps(-1.0, -2.0), ref_logps=logps(-1.0 + gap, -2.0))
    return (Group(completions=(one, one)),)


def test_that_a_reference_that_differs_at_the_start_is_found():
    watched = watch(DETECTOR, steps=5, groups=lambda step: sampled(0.1), kl=0.01, kl__max=0.1)
    step, finding = watched.first
    assert step == 1
    assert "before the first update" in finding.headline


def test_that_it_may_differ_later_and_in_bfloat16_a_little():
    assert (
        watch(DETECTOR, steps=5, groups=lambda step: sampled(0.0 if step == 1 else 0.5), kl=0.01, kl__max=0.1).names
        == []
    )
    assert watch(DETECTOR, steps=2, facts=RunFacts(bf16=True), groups=lambda step: sampled(0.05), kl=0.0).names == []


def test_that_a_negative_kl_of_ours_is_found():
    watched = watch(DETECTOR, steps=5, kl=lambda step: -0.01 if step == 3 else 0.01, kl__max=0.1)
    assert watched.first[0] == 3


def test_that_another_estimate_may_be_negative():
    watched = watch(DETECTOR, steps=5, kl=-0.01)
    assert (watched.names, watched.reading("kl_estimate")) == ([], Missing.NOT_RECORDED)
