from dataclasses import replace

import pytest

from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.progress import RatingRules, editing_sentence, rating_progress
from tests.rating.entries import entry, ref

RULES = RatingRules(
    mode="async",
    weight=1.0,
    is_alone=False,
    shrinks=True,
    quorum=2,
    max_age=200,
    late_share=0.25,
    prompts_per_step=8,
    num_generations=8,
)


def progress(entries, rules=RULES, **fields):
    return rating_progress(RatingLog(entries), rules, "mara", waiting=12, **fields)


def test_that_groups_are_counted_by_what_became_of_them():
    found = progress(
        [
            entry(1, group=ref(1), used_step=5),
            entry(2, group=ref(2), used_step=7),
            entry(3, group=ref(3), expired_step=9),
            entry(4, group=ref(4)),
            entry(5, "all_bad", (None,) * 4, group=ref(5)),
        ]
    )
    assert (found.used, found.last_used_step, found.rated, found.waiting, found.expired) == (2, 7, 1, 12, 1)


@pytest.mark.parametrize(("prompts", "limit"), [(1, 0), (2, 0), (3, 1), (8, 2), (9, 3), (16, 5)])
def test_that_late_ratings_are_at_most_a_quarter_of_a_batch(prompts, limit):
    rules = replace(RULES, prompts_per_step=prompts)
    assert rules.late_limit == limit
    assert limit <= 0.25 * (prompts + limit)


def test_that_the_next_update_is_told_in_words():
    rated = [entry(n, group=ref(n)) for n in range(1, 10)]
    found = progress(rated)
    assert found.headline == "2 of 9 rated groups, 16 completions"
    assert "At most 25% of a batch" in found.detail
    assert progress(rated[:1]).headline == "1 of 1 rated group, 8 completions"
    assert progress([]).detail.startswith("It learns from the program's reward alone.")
    assert progress([], replace(RULES, is_alone=True)).detail.startswith("Nothing:")


def test_that_a_waiting_update_says_how_many_are_missing():
    rules = replace(RULES, mode="wait", quorum=3)
    assert progress([], rules, awaited=(12, 1)).headline == "1 of 8 groups of step 12"
    assert progress([], rules, awaited=(12, 1)).detail.startswith("The update waits until 2 more groups are rated.")
    assert progress([], rules, awaited=(12, 2)).detail.startswith("The update waits until 1 more group is rated.")
    assert progress([], rules, awaited=(12, 3)).detail.startswith("Enough groups are rated")


def test_that_offline_ratings_are_kept():
    found = progress([entry(1)], replace(RULES, mode="offline"))
    assert found.headline == "None of 1 rated group"
    assert "started or resumed" in found.detail


def test_that_the_shrunk_weight_is_told_and_can_be_turned_off():
    some = progress([entry(1)])
    assert some.weight == 0.25
    assert "0.25 of 1 until 5 repeats" in some.detail
    off = progress([entry(1)], replace(RULES, shrinks=False, weight=2.0))
    assert off.weight == 2.0
    assert "not shrunk" in off.detail
    repeats = [entry(n, group=ref(n)) for n in range(1, 7)]
    repeats += [entry(10 + n, group=ref(n), is_repeat=True) for n in range(1, 7)]
    assert "shrunk to your agreement with yourself of 100%" in progress(repeats).detail


def test_that_editing_says_what_happens():
    assert editing_sentence(7, None).startswith("Step 7 learned from this rating already")
    assert "too late" in editing_sentence(None, 9)
    assert editing_sentence(None, None).startswith("No update has learned")
