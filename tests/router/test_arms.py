"""The statistics: shrinkage, discounting, difficulty of a class, forgetting, drift."""

import json

import numpy as np
import pytest

from grpo_gui.router.arms import ArmStatistics
from grpo_gui.router.drift import CLASS_ALARM, MODEL_ALARM, DriftDetector
from grpo_gui.router.rewards import Outcome, TradeOff


def made(ratings, *, strength=12.0, discount=1.0, models=("a", "b")):
    arms = ArmStatistics(strength, discount)
    arms.introduce(models)
    for name, model, quality in ratings:
        arms.add(name, model, Outcome(quality))
    return arms


def quality(arms, name, models=("a", "b")):
    return arms.beliefs(name, arms.places(models)).quality.tolist()


def test_that_without_ratings_every_model_is_even():
    arms = made([])
    beliefs = arms.beliefs("x", arms.places(("a", "b", "unknown")))
    assert beliefs.quality.tolist() == [0.5, 0.5, 0.5]
    assert beliefs.ratings.tolist() == [0, 0, 0]
    assert arms.drift_level() is None


def test_that_a_few_ratings_are_shrunk_toward_the_models_level_and_many_are_believed():
    elsewhere = [("x", "a", 0.9), ("x", "b", 0.3)] * 40
    few = made([*elsewhere, ("y", "a", 0.0)])
    many = made([*elsewhere, *[("y", "a", 0.0)] * 200])
    assert 0.5 < quality(few, "y")[0] < 0.9
    assert quality(many, "y")[0] < 0.1


def test_that_a_model_never_asked_in_a_hard_class_is_not_taken_for_a_good_one_there():
    easy = [("easy", model, value) for _ in range(60) for model, value in (("a", 0.8), ("b", 0.7))]
    hard = [("hard", "a", 0.1)] * 100
    assert quality(made(easy + hard), "hard")[1] < 0.4


def test_that_discounting_forgets_what_is_old():
    ratings = [("x", "a", 0.6)] * 300 + [("x", "a", 0.52)] * 60  # too little for an alarm
    assert quality(made(ratings), "x")[0] == pytest.approx(0.587, abs=0.003)
    assert quality(made(ratings, discount=0.9), "x")[0] < 0.565


def test_that_counts_are_of_real_ratings_whatever_was_forgotten():
    arms = made([("x", "a", 1.0)] * 300 + [("x", "a", 0.0)] * 60, discount=0.9)
    assert arms.beliefs("x", arms.places(("a", "b"))).ratings.tolist() == [360, 0]


def test_that_cost_and_latency_are_means_apart_from_quality():
    arms = ArmStatistics(12.0, 1.0)
    for _ in range(500):
        arms.add("x", "a", Outcome(0.6, 2.0, 3.0))
        arms.add("x", "b", Outcome(0.6, 0.0, 1.0))
    beliefs = arms.beliefs("x", arms.places(("a", "b")))
    assert beliefs.cost == pytest.approx([2.0, 0.0], abs=0.05)
    assert beliefs.latency_s == pytest.approx([3.0, 1.0], abs=0.05)
    assert beliefs.utility(TradeOff(0.1, 0.1)) == pytest.approx(beliefs.quality - [0.5, 0.1], abs=0.02)
    assert beliefs.deviation()[0] == pytest.approx(np.sqrt(0.6 * 0.4 / 500), rel=0.1)


def test_that_a_steady_model_hardly_ever_raises_an_alarm_and_a_changed_one_soon_does():
    generator = np.random.default_rng(0)
    arms = ArmStatistics(12.0, 0.999)
    steady = [arms.add("x", "a", Outcome(float(generator.random() < 0.7))) for _ in range(6000)]
    assert sum(alarm is not None for alarm in steady) <= 2  # once in 15 000 ratings over 30 such runs
    changed = [arms.add("x", "a", Outcome(float(generator.random() < 0.2))) for _ in range(200)]
    alarm = next(alarm for alarm in changed if alarm)
    assert (alarm.model, alarm.better) == ("a", False)


def test_that_an_alarm_in_one_class_forgets_most_there_and_less_elsewhere():
    arms = made([(name, model, 0.8) for _ in range(100) for name in "xy" for model in "ab"])
    before = {name: arms.beliefs(name, arms.places(("a", "b"))).strength for name in "xy"}
    while not (alarm := arms.add("x", "a", Outcome(0.0))):
        pass
    assert (alarm.query_class, alarm.model) == ("x", "a")
    after = {name: arms.beliefs(name, arms.places(("a", "b"))).strength for name in "xy"}
    kept = {name: after[name] / before[name] for name in "xy"}
    assert kept["x"][0] < kept["x"][1] < kept["y"][1]
    assert kept["y"][0] < kept["y"][1]


def test_that_the_alarm_over_all_classes_adds_up_small_surprises():
    detector = DriftDetector()
    detector.resize(50, 2)
    steps = 0
    while (alarm := detector.add(steps % 50, 1, -0.3)) is None:
        steps += 1
    assert alarm == (True, False)
    assert steps == pytest.approx(MODEL_ALARM / 0.25, abs=1)
    assert detector.highest()[0] == 0.0


def test_that_the_highest_statistic_is_the_one_nearest_to_its_alarm():
    detector = DriftDetector()
    assert detector.highest() is None
    detector.resize(2, 3)
    detector.add(1, 2, 0.9)
    value, alarm, model, query_class = detector.highest()
    assert (value, alarm, model, query_class) == (pytest.approx(0.8), CLASS_ALARM, 2, 1)


def test_that_a_snapshot_goes_on_exactly():
    generator = np.random.default_rng(3)
    ratings = [(f"c{generator.integers(5)}", f"m{generator.integers(4)}", generator.random()) for _ in range(300)]
    arms = made(ratings[:200], discount=0.99, models=("m0",))
    again = ArmStatistics(12.0, 0.99)
    again.restore(json.loads(json.dumps(arms.snapshot())))
    for name, model, value in ratings[200:]:
        arms.add(name, model, Outcome(value))
        again.add(name, model, Outcome(value))
    assert again.snapshot() == arms.snapshot()
