"""A run that people rate is diagnosed too, and what is usual there is no finding."""

import queue
from dataclasses import asdict, replace

import pytest

from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import facts_from_config
from grpo_gui.training.config import RewardSpec
from grpo_gui.training.diagnosing import feed_event
from grpo_gui.training.learner import Learner
from grpo_gui.training.trainer import Trainer
from tests.training.fakes import LENGTH_REWARD, Sink, tiny_config
from tests.training.raters import MemoryRatings, SimulatedRater

HUMAN = RewardSpec("human", "human")


def prefers_short(group, rng):
    order = sorted({one.text for one in group.completions}, key=lambda text: (len(text), text))
    return [float(order.index(one.text) + 1) for one in group.completions]


@pytest.fixture
def train(tiny_model, tmp_path):
    """Trains a rated run and returns its diagnosis and the number of ratings that were learned from."""

    def train(share, **changes):
        config = replace(
            tiny_config(tiny_model, rewards=(HUMAN,), steps=50, prompts_per_step=8, num_generations=4),
            **{
                "multi_objective_aggregation": "normalize_then_sum",
                "learning_rate": 1e-4,
                "max_completion_length": 40,
                **changes,
            },
        )
        diagnosis, ratings, sink = Diagnosis(facts_from_config(asdict(config))), MemoryRatings(), Sink()
        rater = SimulatedRater(ratings, prefers_short, share=share, delay_steps=2, seed=0)

        def on_event(event):
            rater.watch(event)
            feed_event(diagnosis, event)

        sink.on_event = on_event
        Trainer(config, 7, sink, queue.SimpleQueue(), tmp_path / "state", ratings=ratings).run()
        return diagnosis, sum(step["ratings/used"] for step in sink.steps)

    return train


def findings(diagnosis):
    return [(one.detector, one.headline) for one in diagnosis.findings]


@pytest.mark.parametrize("share", [0.0, 0.04])
def test_that_a_run_with_few_or_no_ratings_has_no_finding(train, share):
    diagnosis, used = train(share)
    assert (used > 5) == (share > 0)
    assert findings(diagnosis) == []


def test_that_ratings_beside_a_reward_bring_no_finding(train):
    diagnosis, used = train(0.04, rewards=(*LENGTH_REWARD, HUMAN))
    assert used > 5
    assert findings(diagnosis) == []


def test_that_samples_that_are_not_recognised_are_found_in_a_rated_run_too(train, monkeypatch):
    do_step = Learner.do_step

    def at_another_temperature(learner, *arguments):
        logps_of = learner.policy.logps

        def logps(*given, temperature, **options):
            return logps_of(*given, temperature=2 * temperature, **options)

        learner.policy.logps = logps
        try:
            return do_step(learner, *arguments)
        finally:
            learner.policy.logps = logps_of

    monkeypatch.setattr(Learner, "do_step", at_another_temperature)
    diagnosis, _ = train(0.04, steps=3)
    assert "fresh_ratio" in [one.detector for one in diagnosis.findings]
