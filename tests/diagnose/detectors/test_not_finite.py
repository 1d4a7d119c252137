import math

from grpo_gui.diagnose.detectors.not_finite import DETECTOR
from tests.diagnose.runs import watch


def test_that_an_infinite_loss_is_found_at_once():
    watched = watch(DETECTOR, steps=30, loss=lambda step: math.inf if step == 20 else 0.1)
    step, finding = watched.first
    assert (step, finding.onset, finding.pauses) == (20, 20, True)
    assert finding.headline == "The loss is no longer a number."


def test_that_nan_after_an_unbroken_record_is_found():
    watched = watch(DETECTOR, steps=30, grad_norm=lambda step: math.nan if step >= 15 else 1.0)
    assert watched.first[0] == 15
    assert "gradient" in watched.first[1].headline


def test_that_nan_as_padding_is_none():
    padded = lambda step: 0.1 if step % 10 == 0 else math.nan  # noqa: E731
    assert watch(DETECTOR, steps=100, loss=padded, grad_norm=padded, kl=padded, reward=0.5).names == []
    assert watch(DETECTOR, steps=100, loss=math.nan, reward=0.5).names == []


def test_that_a_counter_of_nan_gradients_counts():
    assert watch(DETECTOR, steps=30, nan_count=lambda step: 2.0 if step == 7 else 0.0).first[0] == 7


def test_that_a_run_that_ended_by_it_has_the_finding():
    watched = watch(DETECTOR, steps=5, loss=0.1)
    assert watched.diagnosis.feed_failure("The disk is full.") == ()
    (finding,) = watched.diagnosis.feed_failure("The gradient of completion 3 to prompt 1 is not finite.")
    assert "gradient" in finding.headline
