import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.rating.pairs import bradley_terry

PAIRS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0])).filter(lambda p: p[0] != p[1]),
    min_size=1,
    max_size=20,
)


def test_that_one_win_gives_the_strength_worked_out_by_hand():
    # 1 - s(2t) = t has the solution t = 0.33744..: gradient of the winner is (1 - s(2t)) - t
    strengths = bradley_terry([(0, 1, 1.0)])
    t = strengths[0]
    assert t == pytest.approx(0.337, abs=5e-4)
    assert 1 - 1 / (1 + math.exp(-2 * t)) == pytest.approx(t, abs=1e-9)
    assert strengths[1] == pytest.approx(-t, abs=1e-9)


def test_that_three_in_a_row_are_ordered_and_centred():
    # a beats b, b beats c: by symmetry b is 0 and 1 - s(t) = t for a
    strengths = bradley_terry([(0, 1, 1.0), (1, 2, 1.0)])
    assert strengths[1] == pytest.approx(0, abs=1e-9)
    assert strengths[0] == pytest.approx(0.4012, abs=1e-3)
    assert 1 / (1 + math.exp(strengths[0])) == pytest.approx(strengths[0], abs=1e-9)


def test_that_no_comparison_gives_no_strength():
    assert bradley_terry([]) == {}


@given(PAIRS)
def test_that_ties_alone_give_zero(pairs):
    strengths = bradley_terry([(first, second, 0.5) for first, second, _ in pairs])
    assert all(abs(value) < 1e-9 for value in strengths.values())


@given(PAIRS, st.randoms())
def test_that_neither_order_nor_side_of_the_comparisons_matters(pairs, rng):
    shuffled = [p if rng.random() < 0.5 else (p[1], p[0], 1 - p[2]) for p in pairs]
    rng.shuffle(shuffled)
    one, other = bradley_terry(pairs), bradley_terry(shuffled)
    assert one.keys() == other.keys()
    assert all(abs(one[name] - other[name]) < 1e-7 for name in one)


@given(PAIRS, st.permutations(range(6)))
def test_that_other_names_change_nothing(pairs, names):
    renamed = bradley_terry([(names[first], names[second], result) for first, second, result in pairs])
    for name, strength in bradley_terry(pairs).items():
        assert renamed[names[name]] == pytest.approx(strength, abs=1e-7)


@given(PAIRS)
def test_that_the_gradient_is_zero_and_strengths_sum_to_zero(pairs):
    strengths = bradley_terry(pairs)
    gradient = {name: -value for name, value in strengths.items()}
    for first, second, result in pairs:
        chance = 1 / (1 + math.exp(strengths[second] - strengths[first]))
        gradient[first] += result - chance
        gradient[second] -= result - chance
    assert all(abs(value) < 1e-6 for value in gradient.values())
    assert abs(sum(strengths.values())) < 1e-6


def test_that_hundreds_of_equal_wins_still_converge():
    strengths = bradley_terry([(0, 1, 1.0)] * 500)
    assert strengths[0] == pytest.approx(500 / (1 + math.exp(2 * strengths[0])), rel=1e-6)
