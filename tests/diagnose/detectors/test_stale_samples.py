import math

from grpo_gui.diagnose.detectors.stale_samples import DETECTOR
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import Completion, Group, logps, watch


def group(*gaps):
    old = [-1.0] * len(gaps)
    new = [-1.0 + gap for gap in gaps]
    return (Group(completions=(Completion(old_logps=logps(*old), logps=logps(*new)),) * 2),)


def test_that_ratios_far_from_one_are_found():
    # ratios 4 and .1: mean 2.05, effective share 4.1^2 / (2 * 16.01) = .525 with the third .1 below .5
    far = group(math.log(4), math.log(0.1), math.log(0.1))
    watched = watch(DETECTOR, steps=30, groups=lambda step: far)
    assert watched.names == ["stale_samples"]
    assert watched.first[0] == 14


def test_that_ratios_near_one_are_none():
    assert watch(DETECTOR, steps=30, groups=lambda step: group(0.05, -0.05, 0.0)).names == []


def test_that_log_probabilities_are_needed():
    bare = (Group(completions=(Completion(),)),)
    assert watch(DETECTOR, steps=30, groups=lambda step: bare).reading("stale_samples") is Missing.NOT_RECORDED
