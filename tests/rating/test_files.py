"""Ratings as lines of files: which pairs and labels a rating means, and what is read back."""

import json

import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.rating.files import (
    EVENTS,
    LABELS,
    PAIRS,
    GroupTexts,
    event_lines,
    label_lines,
    pair_lines,
    read_events,
    read_labels,
    read_lines,
    read_pairs,
    to_jsonl,
)
from grpo_gui.rating.values import terms
from tests.rating.entries import entry, ref, undone

TEXTS = ("a", "b", "a", "c")
GROUPS = {ref(): GroupTexts("p", TEXTS), ref(2): GroupTexts("q", ("x", "y"))}


def pairs_of(*entries):
    return [(line["chosen"], line["rejected"]) for line in pair_lines(entries, GROUPS)]


def labels_of(*entries):
    return {line["completion"]: line["label"] for line in label_lines(entries, GROUPS, terms)}


def test_that_scores_give_a_pair_for_each_better_answer_and_ties_none():
    assert pairs_of(entry(1, "scores", (5, 2, 5, 2))) == [("a", "b"), ("a", "c")]


def test_that_of_a_ranking_the_lower_level_is_better():
    assert pairs_of(entry(1, "ranks", (2, 1, 2, 3))) == [("a", "c"), ("b", "a"), ("b", "c")]


def test_that_pairs_are_written_as_they_were_judged():
    judged = entry(1, "pairs", (None,) * 4, pairs=((0, 1, 0.0), (1, 3, 0.5), (3, 1, 1.0)))
    assert pairs_of(judged) == [("b", "a"), ("c", "b")]


def test_that_unrated_answers_and_whole_verdicts_make_no_pairs():
    assert pairs_of(entry(1, "scores", (None, 2, None, None))) == []
    assert pairs_of(entry(1, "all_good", (5, 5, 5, 5))) == []


def test_that_scores_of_three_are_neither_good_nor_bad():
    assert labels_of(entry(1, "scores", (4, 3, 4, 1))) == {"a": True, "c": False}


def test_that_labels_and_verdicts_are_labels():
    assert labels_of(entry(1, "labels", (1, 0, 1, None))) == {"a": True, "b": False}
    assert labels_of(entry(1, "all_bad", (1, 1, 1, 1))) == {"a": False, "b": False, "c": False}


def test_that_a_ranking_labels_what_lies_above_and_below_the_middle():
    assert labels_of(entry(1, "ranks", (2, 1, 2, 3))) == {"b": True, "c": False}  # the two copies of a are the middle


def test_that_a_group_that_is_gone_is_left_out():
    lost = entry(1, "scores", (5, 1, 5, 1), group=ref(9))
    assert list(pair_lines([lost], GROUPS)) == list(event_lines([lost], GROUPS)) == []


def test_that_every_entry_comes_back_as_it_was():
    entries = [
        entry(1, "scores", (5, 2, 5, None), tags=((1, "false"),), note="Ü\n\u202e", is_repeat=True),
        entry(2, "pairs", (None,) * 4, pairs=((0, 1, 0.5),), first_key_s=None),
        undone(3, 2),
        entry(4, "skip", (None, None), positions=(1, 0), group=ref(2), is_audit=True, reason="why"),
    ]
    content = b"".join(to_jsonl(event_lines(entries, GROUPS)))
    kind, lines = read_lines(content, "f")
    assert kind == EVENTS
    read = read_events(lines, GROUPS, "f")
    assert [(one.file_id, one.event) for one in read] == [(one.id, one.event) for one in entries]


def test_that_half_of_a_surrogate_pair_survives():
    groups = {ref(): GroupTexts("p\ud800", TEXTS)}
    entries = [entry(1, "scores", (5, 2, 5, 1))]
    _, lines = read_lines(b"".join(to_jsonl(event_lines(entries, groups))), "f")
    assert read_events(lines, groups, "f")[0].event == entries[0].event


def test_that_a_group_is_found_by_its_texts_where_its_place_is_another():
    line = json.loads(json.dumps(next(event_lines([entry(1, "scores", (5, 2, 5, 1))], GROUPS))))
    elsewhere = {ref(7): GROUPS[ref()]}
    assert read_events([line], elsewhere, "f")[0].event.group == ref(7)
    assert read_events([line], {ref(7): GroupTexts("p", ("a", "b"))}, "f") == [None]


def test_that_pairs_are_read_back_as_judged_pairs():
    lines = list(pair_lines([entry(1, "ranks", (2, 1, 2, 3))], GROUPS))
    lines.append({"prompt": "p", "chosen": "nowhere", "rejected": "a"})
    events, unknown = read_pairs(lines, GROUPS, "noa", 5.0, "f")
    assert unknown == 1
    (event,) = events
    assert (event.mode, event.rater, event.first_key_s) == ("pairs", "noa", None)
    assert event.pairs == ((0, 3, 1.0), (1, 0, 1.0), (1, 3, 1.0))
    assert event.positions == (0, 1, 0, 2)


def test_that_labels_are_read_back_for_every_copy():
    lines = [{"prompt": "p", "completion": "a", "label": True}, {"prompt": "p", "completion": "c", "label": False}]
    events, unknown = read_labels([*lines, {"prompt": "z", "completion": "a", "label": True}], GROUPS, "noa", 5.0, "f")
    assert unknown == 1
    assert [event.values for event in events] == [(1.0, None, 1.0, 0.0)]


@pytest.mark.parametrize(
    ("first", "kind"), [({"mode": "skip"}, EVENTS), ({"chosen": "a"}, PAIRS), ({"label": True}, LABELS)]
)
def test_that_the_columns_tell_the_format(first, kind):
    assert read_lines(json.dumps(first).encode() + b"\n\n", "f")[0] == kind


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "holds no ratings"), (b'{"x": 1}', "holds no ratings"), (b"{", "Line 1 of f"), (b"[1]", "no JSON object")],
)
def test_that_another_file_is_refused_with_a_sentence(content, words):
    with pytest.raises(BadInputError, match=words):
        read_lines(content, "f")


@pytest.mark.parametrize("field", ["mode", "values", "positions", "rater", "prompt", "shown_s"])
def test_that_a_broken_entry_is_named(field):
    line = json.loads(json.dumps(next(event_lines([entry(1, "scores", (5, 2, 5, 1))], GROUPS))))
    del line[field]
    with pytest.raises(BadInputError, match="Line 1 of f"):
        read_events([line], GROUPS, "f")


@pytest.mark.parametrize("label", [1, "true", None])
def test_that_a_label_is_true_or_false(label):
    with pytest.raises(BadInputError, match="true or false"):
        read_labels([{"prompt": "p", "completion": "a", "label": label}], GROUPS, "noa", 5.0, "f")


@pytest.mark.parametrize(
    ("mode", "field", "value"),
    [
        ("scores", "values", [99, 1, 1, 1]),
        ("scores", "values", [float("nan"), 1, 1, 1]),
        ("scores", "values", [1, 2]),
        ("ranks", "values", [0, 1, 1, 1]),
        ("ranks", "values", [5, 1, 1, 1]),
        ("labels", "values", [2, 1, 1, 1]),
        ("scores", "positions", [0, 1, 2, 99]),
        ("pairs", "pairs", [[0, 99, 1.0]]),
        ("pairs", "pairs", [[0, 0, 1.0]]),
        ("pairs", "pairs", [[0, 1, 7.0]]),
        ("flag", "tags", [[99, "odd"]]),
        ("scores", "submitted_s", float("inf")),
        ("scores", "rater", " "),
    ],
)
def test_that_an_entry_that_nobody_could_give_is_named(mode, field, value):
    line = json.loads(json.dumps(next(event_lines([entry(1, "scores", (5, 2, 5, 1))], GROUPS))))
    line |= {"mode": mode, "values": [1, 1, 1, 1] if mode != "flag" else [None] * 4}
    assert read_events([line], GROUPS, "f")[0] is not None
    with pytest.raises(BadInputError, match="Line 1 of f"):
        read_events([line | {field: value}], GROUPS, "f")
