from grpo_gui.rating.log import RatingLog
from tests.rating.entries import entry, ref, undone


def counting_id(log, group=None, rater="mara"):
    return log.counting()[group or ref()][rater].id


def test_that_the_newest_rating_of_each_rater_counts():
    log = RatingLog([entry(1), entry(2, values=(4, 3, 2, 1)), entry(3, rater="ben")])
    assert (counting_id(log), counting_id(log, rater="ben")) == (2, 3)


def test_that_taking_back_lets_the_one_before_count_again_without_limit():
    log = RatingLog([entry(1), entry(2), entry(3)])
    log.add([undone(4, 3)])
    assert counting_id(log) == 2
    log.add([undone(5, 2), undone(6, 1)])
    assert log.counting() == {}
    assert log.standing() == []


def test_that_a_skip_never_replaces_a_rating_and_a_flag_takes_the_group_out():
    log = RatingLog([entry(1), entry(2, "skip", (None,) * 4)])
    assert counting_id(log) == 1
    log.add([entry(3, "flag", (None,) * 4)])
    assert log.counting() == {}


def test_that_the_order_in_which_entries_arrive_does_not_matter():
    entries = [entry(1), undone(3, 2), entry(2), entry(4, group=ref(2))]
    forwards, backwards = RatingLog(entries), RatingLog(reversed(entries))
    assert forwards.counting() == backwards.counting()
    assert forwards.newest_id == 4
