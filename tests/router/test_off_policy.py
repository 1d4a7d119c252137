"""Off-policy estimates: numbers by hand, unbiasedness by simulation."""

import numpy as np
import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.router.off_policy import LoggedDecision, bootstrap, doubly_robust_terms, policy_value
from grpo_gui.router.sampler import ordered_draw


def logged(expected, asked, propensities, rewards):
    return LoggedDecision(np.array(expected, dtype=float), asked, propensities, rewards)


def test_that_one_draw_gives_the_textbook_estimates():
    log = [logged([0.5, 0.2], (0,), (0.25,), (1.0,)), logged([0.5, 0.2], (1,), (0.75,), (0.0,))]
    target = [np.array([0.6, 0.4])] * 2
    terms = doubly_robust_terms(log, target)
    base = 0.6 * 0.5 + 0.4 * 0.2
    assert terms == pytest.approx([base + 0.6 / 0.25 * (1.0 - 0.5), base + 0.4 / 0.75 * (0.0 - 0.2)])
    value = policy_value(log, target)
    weights = np.array([0.6 / 0.25, 0.4 / 0.75])
    assert value.snips.mean == pytest.approx(weights[0] / weights.sum())
    assert value.effective_sample_size == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert value.decisions == 2


def test_that_two_draws_are_combined_by_des_raj():
    log = [logged([0.0, 0.0, 0.0], (1, 2), (0.5, 0.8), (0.4, 1.0))]
    y = (0.3 * 0.4, 0.2 * 1.0)
    assert doubly_robust_terms(log, [np.array([0.5, 0.3, 0.2])]) == pytest.approx(
        [(y[0] / 0.5 + (y[0] + y[1] / 0.8)) / 2]
    )


def test_that_answers_after_the_first_without_a_rating_are_left_out():
    full = logged([0.1, 0.2], (0, 1), (0.5, 1.0), (1.0, 0.0))
    part = logged([0.1, 0.2], (0, 1), (0.5, 1.0), (1.0, np.nan))
    none = logged([0.1, 0.2], (0, 1), (0.5, 1.0), (np.nan, 0.0))
    target = np.array([0.7, 0.3])
    assert doubly_robust_terms([part], [target]) == pytest.approx([0.13 + 0.7 * 0.9 / 0.5])
    assert doubly_robust_terms([none], [target]) == pytest.approx([0.13])
    assert doubly_robust_terms([full], [target]) != doubly_robust_terms([part], [target])


@pytest.mark.parametrize("draws", [1, 2, 3])
def test_that_the_doubly_robust_estimate_is_unbiased_even_with_a_wrong_model_of_rewards(draws):
    generator = np.random.default_rng(draws)
    proposal, target = np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.2, 0.7])
    truth = np.array([0.2, 0.5, 0.9])
    log = []
    for _ in range(20_000):
        asked, propensities = ordered_draw(proposal, draws, generator.random(draws).tolist())
        rewards = tuple(float(generator.random() < truth[index]) for index in asked)
        log.append(logged([0.9, 0.1, 0.4], asked, propensities, rewards))
    value = policy_value(log, [target] * len(log))
    assert value.doubly_robust.mean == pytest.approx(target @ truth, abs=0.03)
    assert value.doubly_robust.low < target @ truth < value.doubly_robust.high
    assert value.snips.mean == pytest.approx(target @ truth, abs=0.04)
    assert value.effective_sample_size < len(log)


def test_that_the_interval_narrows_with_more_decisions_and_is_seeded():
    values = np.random.default_rng(0).random(400)
    few, many = bootstrap(values[:50]), bootstrap(values)
    assert many.high - many.low < few.high - few.low
    assert bootstrap(values, seed=1) == bootstrap(values, seed=1)
    assert np.isnan(bootstrap(np.array([])).mean)


def test_that_without_one_rated_first_draw_nothing_can_be_judged():
    with pytest.raises(BadInputError, match="no policy can be judged"):
        policy_value([logged([0.1, 0.2], (0,), (0.5,), (np.nan,))], [np.array([0.5, 0.5])])


def test_that_a_policy_the_log_never_followed_has_no_weight():
    value = policy_value([logged([0.1, 0.2], (0,), (0.5,), (1.0,))], [np.array([0.0, 1.0])])
    assert value.effective_sample_size == 0
    assert np.isnan(value.snips.mean)
