from collections import Counter

from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.queue import CHECK_REASON, Queue, is_audited
from tests.rating.entries import RUN, entry, group, ref


def plain(step, index=0, **fields):
    """A group outside of the audit sample: the first such one at or behind the index."""
    while is_audited(ref(step, index)):
        index += 100
    return group(step, index, **fields)


def upcoming(groups, log=None, count=1, **fields):
    options = {"newest_step": max((g.ref.step for g in groups), default=1), **fields}
    return Queue(log or RatingLog(), groups, "mara", **options).upcoming(count)


def test_that_a_tenth_of_all_groups_is_audited_and_known_by_its_place():
    share = sum(is_audited(ref(step, index)) for step in range(500) for index in range(8)) / 4000
    assert 0.08 < share < 0.12


def test_that_groups_whose_answers_differ_more_come_first():
    alike, mixed = plain(1, texts=("a", "a", "a", "b")), plain(1, 1, texts=("a", "b", "c", "d"), prompt="q")
    assert [one.ref for one in upcoming([alike, mixed], count=2)] == [mixed.ref, alike.ref]


def test_that_a_group_with_one_text_is_never_shown():
    assert upcoming([plain(1, texts=("a", "a", "a", "a"))]) == []


def test_that_earlier_disagreement_about_a_prompt_comes_first_and_is_told():
    rated = plain(1, prompt="odd", program=(1, 2, 3, 4))
    log = RatingLog([entry(1, values=(4, 3, 2, 1), group=rated.ref)])
    again = plain(2, prompt="odd", program=(1, 2, 3, 4), texts=("e", "f", "g", "h"))
    other = plain(2, 1, prompt="other", program=(1, 2, 3, 4), task="add")
    found = upcoming([other, again, rated], log)
    assert found[0].ref == again.ref
    assert found[0].reason == "you and the program preferred different answers to such prompts before"


def test_that_new_answers_come_before_those_rated_already():
    rated = plain(1, prompt="p")
    log = RatingLog([entry(1, "all_good", (None,) * 4, group=rated.ref)])
    known, fresh = plain(2, prompt="p"), plain(2, 1, prompt="q")
    assert upcoming([known, fresh, rated], log)[0].ref == fresh.ref
    assert upcoming([known, fresh, rated], log)[0].reason == "none of its answers was rated yet"


def test_that_stale_groups_come_later_and_those_past_the_age_not_at_all():
    old, new = plain(1, prompt="a"), plain(90, prompt="b")
    assert [one.ref for one in upcoming([new, old], count=2, max_age=100)] == [new.ref, old.ref]
    assert [one.ref for one in upcoming([new, old], count=2, max_age=50)] == [new.ref]


def test_that_groups_whose_update_waits_come_first():
    waiting, other = plain(5, texts=("a", "a", "b", "b")), plain(4, 1)
    found = upcoming([waiting, other], newest_step=5, awaited_step=5)
    assert found[0].ref == waiting.ref
    assert found[0].reason == "the update of step 5 waits for it"


def test_that_an_audited_group_whose_update_waits_comes_first_too_and_is_still_one():
    audited = next(group(5, index) for index in range(100) if is_audited(ref(5, index)))
    found = upcoming([plain(4, 1), audited, plain(4, 2)], count=3, newest_step=5, awaited_step=5)
    assert [(one.ref == audited.ref, one.is_audit) for one in found] == [(True, True), (False, False), (False, False)]


def test_that_every_tenth_group_is_from_the_audit_sample_and_that_it_is_never_too_old():
    audited = next(group(1, index) for index in range(100) if is_audited(ref(1, index)))
    groups = [plain(300, index * 1000, prompt=str(index)) for index in range(30)] + [audited]
    found = upcoming(groups, count=12, newest_step=1000, max_age=800)
    assert [one.is_audit for one in found] == [False] * 9 + [True] + [False] * 2
    assert found[9].ref == audited.ref
    assert found[9].reason == CHECK_REASON


def test_that_the_first_five_repeats_come_one_in_six_and_the_others_one_in_twenty():
    groups = [plain(1, index * 1000, prompt=str(index)) for index in range(120)]
    rated, repeats = [], []
    for number in range(1, 101):
        shown = upcoming(groups, RatingLog(rated))[0]
        if shown.is_repeat:
            repeats.append(number)
            assert shown.reason == CHECK_REASON
            assert shown.ref in {one.event.group for one in rated[:-10]}  # ten others lie between
        rated.append(entry(number, group=shown.ref, is_repeat=shown.is_repeat))
    assert repeats == [12, 18, 24, 30, 36, 40, 60, 80, 100]


def test_that_what_comes_next_is_the_same_looked_at_in_advance():
    groups = [plain(1, index * 1000, prompt=str(index)) for index in range(60)]
    log = RatingLog(entry(n + 1, group=groups[n].ref) for n in range(19))
    ahead = upcoming(groups, log, count=42)
    assert [place for place, one in enumerate(ahead) if one.is_repeat] == [4, 10, 16, 22, 28, 40]
    assert max(Counter(one.ref for one in ahead).values()) == 1


def test_that_a_group_is_repeated_once_only():
    groups = [plain(1, index * 1000, prompt=str(index)) for index in range(12)]
    entries = [entry(n + 1, group=groups[n].ref) for n in range(12)]
    entries += [entry(20 + n, group=groups[n].ref, is_repeat=True) for n in range(7)]
    repeats = [one.ref for one in upcoming(groups, RatingLog(entries), count=3) if one.is_repeat]
    assert repeats
    assert not {one.ref for one in groups[:7]} & set(repeats)


def test_that_the_order_is_the_same_every_time():
    groups = [plain(step, index * 1000, prompt=str(index % 3)) for step in (1, 2, 3) for index in range(8)]
    assert upcoming(groups, count=20) == upcoming(list(groups), count=20)
    assert all(one.ref.run_id == RUN for one in upcoming(groups, count=20))


def test_that_skipped_and_rated_groups_do_not_come_again():
    groups = [plain(1, index * 1000, prompt=str(index)) for index in range(3)]
    log = RatingLog([entry(1, "skip", (None,) * 4, group=groups[0].ref), entry(2, group=groups[1].ref)])
    assert [one.ref for one in upcoming(groups, log, count=5)] == [groups[2].ref]


def test_that_the_worth_of_a_group_is_the_one_worked_out_by_hand():
    rated = plain(1, prompt="p", texts=("a", "c", "c", "c"), program=(0, 2, 2, 2))
    asked = plain(51, prompt="p", texts=("a", "a", "b", "b"), program=(0, 0, 0, 1))
    # people preferred a: level 1 against 2 for c, and the program the other way round
    log = RatingLog([entry(1, "ranks", (1, 2, 2, 2), positions=(0, 1, 1, 1), group=rated.ref)])
    queue = Queue(log, [asked, rated], "mara", newest_step=101, max_age=200)
    worth = queue.worth(asked)
    # two different of four: 1 - (2 * 1 + 2 * 1) / (4 * 3) = 2/3; program std 0.5 of at most 1
    assert abs(worth.spread - (2 / 3 + 0.5) / 2) < 1e-9
    assert worth.disagreement == 1  # (1 - tau) / 2 with tau = -1
    assert worth.novelty == 0.5  # b alone
    assert worth.staleness == 0.25  # 50 of 200 steps
    assert abs(worth.total - (worth.spread + 1 + 0.5 - 0.25)) < 1e-9
