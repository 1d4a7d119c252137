from grpo_gui.diagnose.detectors.human_disagrees import DETECTOR
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import watch


def test_that_a_fall_of_the_agreement_is_found():
    watched = watch(DETECTOR, steps=20, ratings__audit_tau=lambda step: 0.8 if step <= 10 else 0.4)
    assert watched.first[0] == 13
    assert "from 0.8 to 0.56" in watched.first[1].detail


def test_that_noise_is_none():
    assert watch(DETECTOR, steps=40, ratings__audit_tau=lambda step: 0.6 + 0.1 * (step % 2)).names == []


def test_that_ratings_are_needed():
    assert watch(DETECTOR, steps=20, reward=1.0).reading("human_disagrees") is Missing.NOT_RECORDED
    assert watch(DETECTOR, steps=9, ratings__audit_tau=0.1).reading("human_disagrees") is Missing.NOT_ENOUGH
