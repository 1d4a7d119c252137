import math

import numpy as np
import pytest

from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.learning import Verdict, curve_progress, learning_report, repeated_prompts_progress
from grpo_gui.diagnose.prompts import PromptOutcomes
from tests.diagnose.runs import noise


def progress_of(values, **options):
    values = np.asarray(values, dtype=np.float64)
    return curve_progress("reward", np.arange(1, len(values) + 1), values, **options)


def test_that_a_clear_rise_and_a_clear_fall_are_named():
    up = progress_of(0.2 + 0.002 * np.arange(150) + noise(150, 0.05))
    assert up.verdict is Verdict.RISING
    assert up.low < 0.298 < up.high
    assert up.sentence.startswith("Reward: rising, +0.")
    down = progress_of(0.8 - 0.002 * np.arange(150) + noise(150, 0.05))
    assert down.verdict is Verdict.FALLING
    assert "−" in down.sentence


def test_that_a_curve_that_stands_still_neither_rises_nor_is_noise():
    progress = curve_progress("reward", np.arange(60), np.full(60, 0.3))
    assert progress.verdict is Verdict.SAME
    assert progress.sentence == "Reward: the same all the time, for 59 steps."


def test_that_noise_is_called_noise_with_the_steps_that_it_takes():
    flat = progress_of(0.5 + noise(100, 0.1))
    assert flat.verdict is Verdict.UNCLEAR
    assert flat.more_steps is not None
    assert flat.sentence.endswith(f"about {flat.more_steps} more steps to see +0.05.")
    assert "no improvement distinguishable from noise" in flat.sentence


def test_that_more_noise_takes_more_steps():
    needed = [progress_of(0.5 + noise(100, deviation)).more_steps for deviation in (0.05, 0.1, 0.2)]
    assert needed == sorted(needed)
    assert needed[2] > 2 * needed[1]


def test_that_flat_runs_are_seldom_called_rising():
    verdicts = [progress_of(0.5 + noise(100, 0.1, seed)).verdict for seed in range(60)]
    assert sum(verdict is not Verdict.UNCLEAR for verdict in verdicts) <= 9  # 5 % wanted; blocks leave some more


def test_that_dependent_noise_widens_the_interval():
    steps = noise(200, 0.05, seed=1)
    dependent = 0.5 + np.convolve(steps, np.ones(8), mode="same") / math.sqrt(8)
    assert width(progress_of(dependent)) > 1.3 * width(progress_of(dependent, block=1))


def width(progress):
    return progress.high - progress.low


def test_that_the_same_data_give_the_same_interval():
    values = 0.5 + noise(80, 0.1)
    assert progress_of(values) == progress_of(values)


def test_that_few_points_are_not_enough():
    few = progress_of([0.1, 0.2, 0.3])
    assert few.verdict is Verdict.NOT_ENOUGH
    assert few.sentence == "Reward: not enough data yet."


def prompts(share_at, count=12, mix=lambda number, step: True):
    outcomes = PromptOutcomes()
    random = np.random.default_rng(0)
    for step in range(1, 101):
        for number in range(count):
            if mix(number, step):
                outcomes.add(step, [(f"prompt {number}", int(random.binomial(8, share_at(number, step))), 8)])
    return outcomes


def test_that_prompts_that_come_again_are_compared_with_themselves():
    better = repeated_prompts_progress(prompts(lambda number, step: 0.3 + 0.004 * step))
    assert better.verdict is Verdict.RISING
    assert better.change == pytest.approx(0.396, abs=0.05)
    assert 0 < better.low < better.change < better.high


def test_that_an_easier_mix_is_no_progress():
    """Each prompt stays as hard as it is, but the easy ones come later."""
    easier = prompts(lambda number, step: number / 12, mix=lambda number, step: abs(number - step / 8.4) < 3)
    assert repeated_prompts_progress(easier).verdict is Verdict.UNCLEAR


def test_that_prompts_that_never_come_again_say_nothing():
    outcomes = PromptOutcomes()
    for step in range(1, 50):
        outcomes.add(step, [(f"prompt {step}", 4, 8)])
    assert repeated_prompts_progress(outcomes).verdict is Verdict.NOT_ENOUGH


def test_that_the_report_holds_all_three_and_the_lists():
    history, outcomes = History(), PromptOutcomes()
    for step in range(1, 101):
        history.append(
            step, {"reward": 0.2 + 0.005 * step} | ({"eval/accuracy": 0.3 + 0.004 * step} if step % 10 == 0 else {})
        )
        outcomes.add(step, [("never", 0, 8), ("always", 8, 8), ("sometimes", 4, 8)])
    report = learning_report(history, outcomes)
    assert [one.subject for one in report.progress] == ["held-out accuracy", "reward", "repeated prompts"]
    assert [one.verdict for one in report.progress[:2]] == [Verdict.RISING, Verdict.RISING]
    assert report.progress[0].change == pytest.approx(0.36)
    assert [record.prompt for record in report.never_solved] == ["never"]
    assert [record.prompt for record in report.always_solved] == ["always"]
