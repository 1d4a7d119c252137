"""Simulated raters train the built-in model: do a few late ratings teach it, and do careless ones leave it alone?"""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from grpo_gui.events import EvalCompleted, RatingsSettled, RunStatus, StepCompleted
from grpo_gui.training.config import RewardSpec
from grpo_gui.training.presets import preset_config
from grpo_gui.training.trainer import Trainer
from tests.training.fakes import Rig
from tests.training.raters import Judgement, MemoryRatings, SimulatedRater, coin_flips, right_or_wrong

pytestmark = [pytest.mark.learning, pytest.mark.timeout(900)]

SHARE = 0.06  # of all groups are rated
DELAY_STEPS = 3  # from taking up a group to its rating
MISTAKES = 0.05  # of the distinct answers are taken for their opposite
HUMAN = RewardSpec("human", "human")
HEAVY = RewardSpec("human", "human", weight=20.0)
WRONG = RewardSpec("wrong", "regex", argument="[5-9]")  # soon gamed: the model learns to put such a digit anywhere
EXACT = RewardSpec("exact", "exact")


@dataclass(frozen=True)
class Outcome:
    """What came of a run: held-out accuracy before and after (1000 samples), and its ratings."""

    before: float
    after: float
    groups: int
    rated: int
    used: int
    expired: int
    optimizer_steps: list[int]
    trust: list[float]


def train(
    folder: Path,
    rewards: tuple[RewardSpec, ...],
    judge: Judgement | None,
    *,
    seed: int = 0,
    steps: int = 150,
    share: float = SHARE,
) -> Outcome:
    config = replace(
        preset_config("rate-by-hand"),
        task="compare",
        rating_mode="async",
        rewards=rewards,
        steps=steps,
        seed=seed,
        device="cpu",
        eval_steps=steps,
        eval_prompts=1000,
    )
    ratings = MemoryRatings()
    rig = Rig(config, folder)
    if judge is not None:
        rater = SimulatedRater(ratings, judge, share=share, delay_steps=DELAY_STEPS, seed=seed)
        rig.sink.on_event = rater.watch
    status = Trainer(config, 7, rig.sink, rig.commands, folder, ratings=ratings).run()
    assert status is RunStatus.FINISHED
    before, after = (dict(event.metrics)["eval/accuracy"] for event in rig.sink.of(EvalCompleted))
    outcomes = [use.outcome for event in rig.sink.of(RatingsSettled) for use in event.uses]
    return Outcome(
        before=before,
        after=after,
        groups=8 * steps,
        rated=len(ratings.log),
        used=outcomes.count("used"),
        expired=outcomes.count("expired"),
        optimizer_steps=[event.optimizer_step for event in rig.sink.of(StepCompleted)],
        trust=[step["ratings/trust"] for step in rig.sink.steps if "ratings/trust" in step],
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_that_a_few_late_ratings_teach_a_model_that_has_no_other_reward(tmp_path, seed):
    outcome = train(tmp_path, (HUMAN,), right_or_wrong(MISTAKES), seed=seed)
    assert outcome.rated <= SHARE * outcome.groups
    assert outcome.after >= outcome.before + 0.10


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_that_a_few_late_ratings_make_up_for_a_wrong_reward(tmp_path, seed):
    rated = train(tmp_path / "rated", (WRONG, HEAVY), right_or_wrong(MISTAKES), seed=seed)
    alone = train(tmp_path / "alone", (WRONG,), None, seed=seed)
    assert rated.rated <= SHARE * rated.groups
    assert rated.after >= alone.after + 0.10


def test_that_coin_flips_beside_a_right_reward_change_no_more_than_noise(tmp_path):
    flipped = train(tmp_path / "flipped", (EXACT, HUMAN), coin_flips, steps=60)
    alone = train(tmp_path / "alone", (EXACT,), None, steps=60)
    assert abs(flipped.after - alone.after) <= 0.04


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_that_coin_flips_as_the_only_reward_lose_all_weight_before_they_do_harm(tmp_path, seed):
    outcome = train(tmp_path, (HUMAN,), coin_flips, seed=seed, steps=60, share=0.5)
    assert outcome.trust[-1] == 0
    assert outcome.optimizer_steps[-1] == outcome.optimizer_steps[-20]
    # at the full learning rate they cost .11 and .13 with two of these seeds
    assert abs(outcome.after - outcome.before) <= 0.06
