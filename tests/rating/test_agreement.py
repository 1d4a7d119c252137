import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.distributions import beta_quantile, incomplete_beta
from grpo_gui.rating.agreement import Retest, confidences, pair_agreement, retest
from grpo_gui.rating.log import RatingLog
from tests.rating.entries import entry, ref

TERMS = st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=4, max_size=4)


def repeated(first, second, count):
    """`count` groups, each rated twice."""
    pairs = [(entry(2 * n, values=first, group=ref(n)), n) for n in range(1, count + 1)]
    return RatingLog(
        [one for one, _ in pairs] + [entry(2 * n + 1, values=second, group=ref(n), is_repeat=True) for _, n in pairs]
    )


def test_that_pairs_ordered_alike_are_counted_and_a_tie_in_one_is_half():
    # pairs (0,1): alike; (0,2): tied once; (1,2): turned round
    assert pair_agreement((1, 2, 3), (1, 3, 1), (0, 1, 2)) == pytest.approx((1 + 0.5 + 0) / 3)


def test_that_pairs_tied_in_both_say_nothing():
    assert pair_agreement((1, 1, 2), (3, 3, 4), (0, 1, 2)) == 1.0
    assert pair_agreement((1, 1), (2, 2), (0, 1)) is None


def test_that_copies_and_the_unrated_are_left_out():
    assert pair_agreement((1, 1, 2, None), (1, 1, 2, 0), (0, 2, 3)) == 1.0


@given(TERMS, TERMS)
def test_that_agreement_is_symmetric_and_a_mirrored_rating_gives_the_rest(one, other):
    share = pair_agreement(one, other, range(4))
    assert share == pair_agreement(other, one, range(4))
    if share is not None:
        assert 0 <= share <= 1
        mirrored = [None if value is None else -value for value in other]
        assert pair_agreement(one, mirrored, range(4)) == pytest.approx(1 - share)


def test_that_the_bound_and_the_confidence_are_those_worked_out_by_hand():
    # Beta(6, 1) has the distribution function x^6: its 20 % quantile is 0.2^(1/6) = 0.76472
    assert Retest(5, 5.0).bound == pytest.approx(0.2 ** (1 / 6))
    assert Retest(5, 5.0).confidence == pytest.approx(2 * 0.2 ** (1 / 6) - 1)
    assert Retest(20, 20.0).confidence == pytest.approx(2 * 0.2 ** (1 / 21) - 1)
    # Beta(1, 1) is uniform
    assert Retest(0, 0.0).bound == pytest.approx(0.2)


def test_that_the_quantile_turns_the_distribution_function_round():
    for a, b in ((1.0, 1.0), (18.0, 5.0), (2.5, 40.0)):
        assert incomplete_beta(beta_quantile(0.2, a, b), a, b) == pytest.approx(0.2, abs=1e-9)


@pytest.mark.parametrize("repeats", [0, 1, 4])
def test_that_the_confidence_is_a_quarter_until_five_repeats(repeats):
    assert Retest(repeats, float(repeats)).confidence == 0.25


@pytest.mark.parametrize("repeats", [5, 20, 200])
def test_that_coin_flips_get_no_weight(repeats):
    assert Retest(repeats, repeats / 2).confidence == 0


def test_that_a_repeat_is_compared_with_the_rating_before_it():
    same = retest(repeated((1, 2, 3, 4), (2, 3, 4, 5), 6), "mara")
    assert (same.repeats, same.agreement) == (6, 1.0)
    turned = retest(repeated((1, 2, 3, 4), (4, 3, 2, 1), 6), "mara")
    assert (turned.repeats, turned.agreement, turned.confidence) == (6, 0.0, 0.0)


def test_that_an_edited_rating_is_no_repeat():
    log = RatingLog([entry(1), entry(2, values=(4, 3, 2, 1))])
    assert retest(log, "mara") == Retest(0, 0)


def test_that_each_rater_has_a_confidence_of_their_own():
    log = repeated((1, 2, 3, 4), (1, 2, 3, 4), 5)
    log.add([entry(100, rater="ben")])
    assert confidences(log) == {"ben": 0.25, "mara": pytest.approx(2 * 0.2 ** (1 / 6) - 1)}
