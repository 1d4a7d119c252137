import numpy as np

from grpo_gui.diagnose.detectors.rater_slips import DETECTOR
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import watch

RANDOM = np.random.default_rng(0)
KEYS = RANDOM.integers(1, 6, 60).astype(float).tolist()
SLOTS = RANDOM.integers(0, 4, 60).astype(float).tolist()


def rated(steps=60, **changes):
    series = {"ratings__key": KEYS, "ratings__slot": SLOTS, "ratings__slots": 4.0, "ratings__seconds": 3.0}
    return watch(DETECTOR, steps=steps, **(series | changes))


def test_that_careful_ratings_are_none():
    assert rated(ratings__retest=0.9).names == []


def test_that_repeats_that_disagree_are_found():
    watched = rated(ratings__retest=0.5)
    assert watched.first[0] == 10
    assert "differently the second time" in watched.first[1].headline


def test_that_a_favoured_place_is_found():
    watched = rated(ratings__slot=lambda step: 0.0 if step % 4 else 2.0)
    assert "Place 1" in watched.first[1].headline


def test_that_one_key_ten_times_and_haste_are_found():
    assert "same key" in rated(ratings__key=lambda step: 3.0 if step > 20 else float(step % 5)).first[1].headline
    assert "too little to read" in rated(ratings__seconds=0.2).first[1].headline


def test_that_ten_ratings_are_needed():
    assert rated(steps=9).reading("rater_slips") is Missing.NOT_ENOUGH
