import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.grpo.advantages import group_advantages
from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.values import (
    RaterScale,
    human_values,
    mid_rank_terms,
    rater_scales,
    terms,
)
from tests.rating.entries import entry, event, ref

LEVELS = st.lists(st.one_of(st.none(), st.integers(1, 4)), min_size=1, max_size=10)
SCORES = st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=4, max_size=4)


def test_that_mid_rank_terms_are_those_worked_out_by_hand():
    # n = 4: sqrt(3*3/5)/3 = 0.44721; ranks 1..4 give 5-2r = 3, 1, -1, -3
    assert mid_rank_terms((1, 2, 3, 4)) == pytest.approx((1.34164, 0.44721, -0.44721, -1.34164), abs=1e-5)
    # best and second known, two tied at the end: midranks 1, 2, 3.5, 3.5 give 3, 1, -2, -2
    assert mid_rank_terms((1, 2, 3, 3)) == pytest.approx((1.34164, 0.44721, -0.89443, -0.89443), abs=1e-5)
    # n = 2: sqrt(3/3) * (3-2r) = +-1
    assert mid_rank_terms((2, 1)) == (-1.0, 1.0)


def test_that_unrated_completions_are_left_out_of_the_ranks():
    assert mid_rank_terms((1, None, 2)) == (1.0, None, -1.0)
    assert mid_rank_terms((None, 1, None)) == (None, 0.0, None)


@given(LEVELS)
def test_that_terms_are_centred_have_at_most_unit_variance_and_keep_the_unrated(levels):
    found = mid_rank_terms(levels)
    assert [term is None for term in found] == [level is None for level in levels]
    known = [term for term in found if term is not None]
    if known:
        assert abs(sum(known)) < 1e-9
        variance = sum(term * term for term in known) / len(known)
        assert variance <= 1 + 1e-9
        distinct = len({level for level in levels if level is not None}) == len(known)
        if distinct and len(known) > 1:
            assert variance == pytest.approx(1)


@given(st.integers(1, 9), st.integers(2, 10))
def test_that_all_tied_gives_exactly_zero(level, count):
    assert mid_rank_terms((level,) * count) == (0.0,) * count


def test_that_scores_are_centred_and_scaled_only_from_twenty_on():
    few = RatingLog([entry(1, values=(1, 2, 3, 4))])
    assert rater_scales(few) == {"mara": RaterScale(2.5, 1.0)}
    many = RatingLog([entry(n, values=(2, 4, 2, 4), group=ref(n)) for n in range(1, 6)])
    scale = rater_scales(many)["mara"]
    assert scale.mean == 3
    assert scale.std == pytest.approx(math.sqrt(20 / 19))
    assert terms(event(values=(2, 4, None, 3)), scale) == pytest.approx((-1 / scale.std, 1 / scale.std, None, 0))


def test_that_a_rater_who_always_gives_the_same_score_has_no_spread_to_divide_by():
    log = RatingLog([entry(n, values=(3, 3, 3, 3), group=ref(n)) for n in range(1, 9)])
    assert rater_scales(log) == {"mara": RaterScale(3.0, 1.0)}
    assert all(values.values == (0, 0, 0, 0) for values in human_values(log).values())


def test_that_equal_completions_count_once_in_the_scale():
    log = RatingLog([entry(1, values=(5, 5, 5, 1), positions=(0, 0, 0, 1))])
    assert rater_scales(log)["mara"].mean == 3


@given(st.lists(SCORES, min_size=1, max_size=8), st.randoms())
def test_that_the_order_of_rating_is_irrelevant(ratings, rng):
    numbered = list(enumerate(ratings, 1))
    log = RatingLog(entry(n, values=values, group=ref(n)) for n, values in numbered)
    rng.shuffle(numbered)
    other = RatingLog(entry(place, values=v, group=ref(n)) for place, (n, v) in enumerate(numbered, 1))
    one, another = human_values(log), human_values(other)
    assert one.keys() == another.keys()
    assert all(one[group].values == another[group].values for group in one)


@given(
    st.sampled_from(["scores", "ranks"]),
    SCORES,
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([0, 0.5, 1])), max_size=5),
    st.permutations(range(4)),
)
def test_that_relabelling_the_slots_changes_nothing(mode, values, pairs, places):
    pairs = tuple(pair for pair in pairs if pair[0] != pair[1])
    for changed in (event(mode, values), event("pairs", (None,) * 4, pairs=pairs)):
        fields = {name: getattr(changed, name) for name in ("mode", "values", "pairs")}
        moved = event(**fields, positions=tuple(places))
        for before, after in zip(terms(changed), terms(moved), strict=True):
            assert (before is None) == (after is None)
            assert before is None or before == pytest.approx(after, abs=1e-9)


def test_that_copies_share_the_strength_of_their_card_and_the_uncompared_stay_unrated():
    pairs = event("pairs", (None,) * 4, positions=(0, 1, 0, 2), pairs=((0, 1, 1.0),))
    first, second, copy, unseen = terms(pairs)
    assert first == copy == -second
    assert unseen is None


def test_that_all_good_and_all_bad_differ_between_groups_but_not_inside():
    assert terms(event("all_good", (None,) * 3)) == (1, 1, 1)
    assert terms(event("all_bad", (None,) * 3)) == (-1, -1, -1)
    assert not human_values(RatingLog([entry(1, "all_good", (None,) * 3)]))[ref()].teaches


@pytest.mark.parametrize("mode", ["skip", "flag"])
def test_that_skips_and_flags_say_nothing(mode):
    assert terms(event(mode, (None,) * 3)) == (None, None, None)


def test_that_a_lone_rating_teaches_nothing():
    values = human_values(RatingLog([entry(1, values=(5, None, None, None))]))[ref()]
    assert not values.teaches
    advantages = group_advantages([[[v] for v in values.values]], aggregation="normalize_then_sum")
    assert advantages.tolist() == [[0, 0, 0, 0]]


@given(SCORES)
def test_that_none_never_acts_as_zero(scores):
    """Adding completions that nobody rated changes no advantage of the others, and gives 0 to the new ones."""
    values = terms(event(values=scores))
    some = group_advantages([[[v] for v in (*values, None)]], aggregation="normalize_then_sum")[0]
    more = group_advantages([[[v] for v in (*values, None, None, None)]], aggregation="normalize_then_sum")[0]
    assert some.tolist() == more[:5].tolist()
    assert all(a == 0 for a, value in zip(some, (*values, None), strict=True) if value is None)


def test_that_several_raters_are_averaged_where_they_spoke():
    log = RatingLog([entry(1, "ranks", (1, 2, None, None)), entry(2, "ranks", (2, 1, 3, None), rater="ben")])
    first, second, third, fourth = human_values(log)[ref()].values
    step = math.sqrt(3 * 2 / 4) / 2  # n = 3: terms 2, 0, -2 times this
    assert first == pytest.approx((1 + 0) / 2)
    assert second == pytest.approx((-1 + 2 * step) / 2)
    assert third == pytest.approx(-2 * step)
    assert fourth is None
    assert human_values(log)[ref()].rating_ids == (2, 1)  # by the raters' names
