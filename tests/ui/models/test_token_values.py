import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.ui.models.token_values import TokenMeasure, nice_ceiling, token_values
from tests.ui.fakes import completion, floats


def test_that_log_ratio_and_ratio_are_those_of_the_last_update_against_the_sampling_policy():
    values = token_values(completion(logps=floats(-1.0, -0.5, -2.0), old_logps=floats(-1.5, -0.5, -1.0)))
    assert values.log_ratio == pytest.approx([0.5, 0.0, -1.0])
    assert values.ratio == pytest.approx([math.exp(0.5), 1.0, math.exp(-1.0)])


def test_that_kl_has_the_direction_of_the_facts():
    values = token_values(completion(logps=floats(-1.0, -9.0, -1.0), ref_logps=floats(-2.0, -1.0, -1.0)))
    assert values.kl == pytest.approx([0.367879, 2971.96, 0.0], rel=1e-4)


def test_that_a_bias_corrected_kl_is_weighted_by_the_ratio():
    sample = completion(old_logps=floats(-1.5, 0, 0), logps=floats(-1.0, 0, 0), ref_logps=floats(-2.0, 0, 0))
    plain, corrected = token_values(sample), token_values(sample, bias_corrected_kl=True)
    assert corrected.kl[0] == pytest.approx(plain.kl[0] * math.exp(0.5))


def test_that_a_missing_reference_leaves_kl_without_values_but_the_rest_intact():
    values = token_values(completion(ref_logps=b""))
    assert not values.has(TokenMeasure.KL)
    assert values.has(TokenMeasure.LOG_RATIO)
    assert np.isnan(values.ref_logps).all()
    assert (values.shares(TokenMeasure.KL) == 0).all()


def test_that_a_blob_of_another_length_is_not_guessed_at():
    values = token_values(completion(logps=floats(-1.0)))
    assert np.isnan(values.logps).all()
    assert len(values) == 3


def test_that_an_extreme_log_ratio_is_clamped_as_in_the_loss():
    values = token_values(completion(logps=floats(-0.0, -0.1, -0.1), old_logps=floats(-500.0, -0.1, -0.1)))
    assert values.log_ratio[0] == 20.0
    assert np.isfinite(values.ratio).all()


def test_that_clipped_tokens_are_counted_by_side():
    values = token_values(completion(clipped=bytes((255, 0, 1))))
    assert (values.clipped_low(), values.clipped_high()) == (1, 1)
    assert list(values.clipped) == [-1, 0, 1]


def test_that_the_end_token_reads_end_unless_the_completion_was_cut():
    assert token_values(completion()).texts == ("9.", "9", "end")
    assert token_values(completion(truncated=True)).texts == ("9.", "9", "<eos>")


def test_that_an_ordinary_last_token_keeps_its_text():
    assert token_values(completion(tokens=("9", ".", "9"), text="9.9")).texts == ("9", ".", "9")


def test_that_a_completion_without_tokens_has_empty_arrays_and_a_scale():
    values = token_values(completion(token_ids=(), tokens=(), text="", logps=b"", old_logps=b"", clipped=b""))
    assert len(values) == 0
    assert values.scale(TokenMeasure.LOG_RATIO) == 0.05


def test_that_rounding_noise_gets_no_colour():
    values = token_values(completion(logps=floats(-0.4, -0.2, -0.1000001), old_logps=floats(-0.4, -0.2, -0.1)))
    assert np.abs(values.shares(TokenMeasure.LOG_RATIO)).max() < 1e-4


@given(st.floats(1e-6, 1e6))
def test_that_the_end_of_a_scale_is_not_below_the_value_and_less_than_twice_it(value):
    assert value <= nice_ceiling(value) * (1 + 1e-5)
    assert nice_ceiling(value) < 2 * value


@given(
    st.lists(st.floats(-30, 0, width=32), min_size=3, max_size=3),
    st.lists(st.floats(-30, 0, width=32), min_size=3, max_size=3),
)
def test_that_shares_stay_in_the_colour_scale_and_kl_is_never_negative(logps, refs):
    values = token_values(completion(logps=floats(*logps), ref_logps=floats(*refs)))
    for measure in TokenMeasure:
        assert (np.abs(values.shares(measure)) <= 1).all()
    assert (values.kl >= -1e-9).all()
