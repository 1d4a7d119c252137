import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.quality import picked_slot, rater_quality, slot_bias
from tests.rating.entries import entry, event, ref


def test_that_the_slot_of_the_best_answer_is_the_pick():
    assert picked_slot(event(values=(1, 5, 2, 2), positions=(3, 2, 1, 0))) == (2, 4)
    assert picked_slot(event("ranks", (1, 2, 2, 2), positions=(3, 2, 1, 0))) == (3, 4)
    assert picked_slot(event(values=(5, 5, 1, 1))) is None
    assert picked_slot(event(values=(5, 5, 1, 1), positions=(0, 0, 1, 2))) == (0, 3)
    assert picked_slot(event("all_bad", (None,) * 4)) is None


def test_that_the_chi_square_is_the_one_worked_out_by_hand():
    # 15 against 5 of 20: (5^2 + 5^2) / 10 = 5 with one degree of freedom, p = 0.0253
    p, favourite = slot_bias([(0, 2)] * 15 + [(1, 2)] * 5)
    assert p == pytest.approx(0.02535, abs=1e-5)
    assert favourite == 0
    assert slot_bias([(0, 2)] * 10 + [(1, 2)] * 10) == (1.0, 0)


def test_that_there_is_no_verdict_before_twenty_picks():
    assert slot_bias([(0, 4)] * 19) == (None, None)


def test_that_groups_with_fewer_places_expect_nothing_of_the_places_they_lack():
    # 20 groups of 2 places and 20 of 4, all fair: expected 15, 15, 5, 5
    fair = [(n % 2, 2) for n in range(20)] + [(n % 4, 4) for n in range(20)]
    p, _ = slot_bias(fair)
    assert p == 1.0


@given(st.permutations(range(4)))
def test_that_the_names_of_the_places_do_not_change_the_test(names):
    rng = random.Random(3)
    picks = [rng.choice([0, 0, 0, 1, 2, 3]) for _ in range(60)]
    assert slot_bias([(pick, 4) for pick in picks])[0] == pytest.approx(
        slot_bias([(names[pick], 4) for pick in picks])[0]
    )


def test_that_a_favoured_place_and_one_answer_again_and_again_are_noticed():
    log = RatingLog(entry(n, "ranks", (1, 2, 2, 2), group=ref(n)) for n in range(1, 25))
    quality = rater_quality(log, "mara")
    assert quality.is_slot_biased
    assert quality.favourite_slot == 0
    assert (quality.ratings, quality.longest_line, quality.is_straight_lining) == (24, 24, True)


def test_that_the_same_order_of_answers_in_shuffled_places_is_no_straight_line():
    rng = random.Random(1)
    entries = []
    for n in range(1, 25):
        positions = list(range(4))
        rng.shuffle(positions)
        entries.append(entry(n, "ranks", (1, 2, 3, 4), positions=tuple(positions), group=ref(n)))
    quality = rater_quality(RatingLog(entries), "mara")
    assert not quality.is_straight_lining
    assert not quality.is_slot_biased


def test_that_all_bad_again_and_again_is_no_straight_line():
    log = RatingLog(entry(n, "all_bad", (None,) * 4, group=ref(n)) for n in range(1, 15))
    assert rater_quality(log, "mara").longest_line == 0


def test_that_imported_ratings_and_answers_without_a_card_say_nothing_about_places():
    log = RatingLog(entry(n, "ranks", (1, 2, 2, 2), group=ref(n), reason="imported") for n in range(1, 25))
    assert rater_quality(log, "mara").ratings == 0
    assert picked_slot(event("ranks", (1, 2, None, None), positions=(0, 1, -1, -1))) == (0, 2)


def test_that_only_a_first_key_below_four_tenths_of_a_second_is_too_fast():
    log = RatingLog(
        entry(n, shown_s=10.0, first_key_s=key, group=ref(n)) for n, key in enumerate((10.3, 10.5, None), 1)
    )
    assert rater_quality(log, "mara").too_fast == 1
