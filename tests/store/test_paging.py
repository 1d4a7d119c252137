import dataclasses
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grpo_gui.events import RunStarted
from grpo_gui.store import completion_order
from grpo_gui.store.completion_filters import SORT_ORDERS
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import CompletionQuery
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import completion, group, new_run, step

# Few values, so that ties are the rule.
NUMBERS = st.sampled_from([0.0, 1.0, 0.5, -2.0, math.inf, -math.inf, math.nan])
LETTERS = "aA%_'\"\\üÜ\0\ud800🙂 "
TEXT = st.text(LETTERS, max_size=4)


@st.composite
def completions(draw, index):
    return completion(
        index,
        draw(TEXT),
        reward=draw(st.none() | NUMBERS),
        advantage=draw(NUMBERS),
        kl_max=draw(st.none() | NUMBERS),
        clip_fraction_low=draw(NUMBERS),
        clip_fraction_high=0.0,
        correct=draw(st.none() | st.booleans()),
        truncated=draw(st.booleans()),
    )


@st.composite
def steps(draw):
    return [
        tuple(
            group(
                index,
                task=draw(st.sampled_from(["sort", "add"])),
                prompt=draw(TEXT),
                completions=tuple(draw(completions(i)) for i in range(draw(st.integers(1, 4)))),
            )
            for index in range(draw(st.integers(1, 3)))
        )
        for _ in range(draw(st.integers(1, 4)))
    ]


@st.composite
def queries(draw):
    def maybe(strategy):
        return draw(st.none() | st.none() | strategy)

    return CompletionQuery(
        run_id=0,
        search=draw(st.just("") | TEXT),
        min_step=maybe(st.integers(1, 4)),
        max_step=maybe(st.integers(1, 4)),
        task=maybe(st.sampled_from(["sort", "add", "other"])),
        correct=maybe(st.booleans()),
        truncated=maybe(st.booleans()),
        min_reward=maybe(st.sampled_from([-3.0, 0.5])),
        max_reward=maybe(st.sampled_from([0.0, 0.5])),
        min_tokens=maybe(st.integers(1, 5)),
        max_tokens=maybe(st.integers(1, 5)),
        superseded=draw(st.booleans()),
        sort=draw(st.sampled_from(sorted(SORT_ORDERS))),
    )


def is_odd(text):
    return "\0" in text or any(0xD800 <= ord(c) < 0xE000 for c in text)


def ascii_lower(text):
    return "".join(c.lower() if c.isascii() else c for c in text)


def found(needle, text):
    if is_odd(text):
        return needle.encode("utf-8", "surrogatepass") in text.encode("utf-8", "surrogatepass")
    return not is_odd(needle) and ascii_lower(needle) in ascii_lower(text)


def matches(row, query):
    """The obvious reading of a query."""
    reward = None if row.reward is not None and math.isnan(row.reward) else row.reward
    return all(
        (
            found(query.search, row.text) or found(query.search, row.prompt),
            query.min_step is None or row.ref.group.step >= query.min_step,
            query.max_step is None or row.ref.group.step <= query.max_step,
            query.task in (None, row.task),
            query.correct is None or row.correct is query.correct,
            query.truncated in (None, row.truncated),
            query.min_reward is None or (reward is not None and reward >= query.min_reward),
            query.max_reward is None or (reward is not None and reward <= query.max_reward),
            query.min_tokens is None or row.tokens >= query.min_tokens,
            query.max_tokens is None or row.tokens <= query.max_tokens,
        )
    )


def sort_key(query):
    """Values in the order's direction, those without one last; ties by id in the same direction."""
    order = SORT_ORDERS[query.sort]
    if query.superseded and order.column == "step":  # attempts after one another, as they were made
        return lambda row: -row.id if order.descending else row.id
    sign = -1 if order.descending else 1

    def key(row):
        names = {"step": row.ref.group.step}
        value = names.get(order.column, getattr(row, order.column, None))
        if value is None or math.isnan(value):
            return (1, 0, -row.id)
        return (0, sign * value, sign * row.id)

    return key


def all_pages(ask, limit):
    cursor, items = None, []
    while True:
        page = ask(cursor, limit)
        new = page.rows if hasattr(page, "rows") else page.groups
        assert len(new) <= limit
        items += new
        if page.cursor is None:
            return items
        assert len(new) == limit
        cursor = page.cursor


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "a.db"
    writer = StoreWriter.open(path)
    with StoreReader(path) as reader:
        yield writer, reader
    writer.close()


@pytest.fixture(params=[(2, 0), (5, 0), (10_000, 10_000)], ids=["window 2", "window 5", "scan"], scope="module")
def window(request):
    """Small tables stand for large ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completion_order, "WINDOW", request.param[0])
        patch.setattr(completion_order, "FEW_ROWS", request.param[1])
        yield


@settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
@given(
    attempts=st.lists(steps(), min_size=1, max_size=3),
    asked=st.lists(queries(), min_size=1, max_size=5),
    limit=st.integers(1, 7),
)
def test_that_pages_are_the_sorted_matches_cut_into_pieces(store, window, attempts, asked, limit):
    writer, reader = store
    run_id, other = writer.create_run(new_run()), writer.create_run(new_run())
    for events in attempts:
        writer.emit(RunStarted(run_id, 0, "cpu", 1000, ()))
        for number, groups in enumerate(events, 1):
            writer.emit(step(run_id, number, groups=groups))
            writer.emit(step(other, number))
    assert writer.flush()
    sizes = [sum(len(part.completions) for groups in events for part in groups) for events in attempts]
    everything = {}
    for superseded, size in ((False, sizes[-1]), (True, sum(sizes[:-1]))):
        everything[superseded] = reader.completion_page(CompletionQuery(run_id, superseded=superseded), limit=1000).rows
        assert len(everything[superseded]) == size
    for query in asked:
        query = dataclasses.replace(query, run_id=run_id)
        expected = sorted((row for row in everything[query.superseded] if matches(row, query)), key=sort_key(query))
        rows = all_pages(lambda cursor, limit, query=query: reader.completion_page(query, cursor, limit), limit)
        assert [row.id for row in rows] == [row.id for row in expected]

        expected_groups = list(dict.fromkeys(row.ref.group for row in expected))
        groups = all_pages(lambda cursor, limit, query=query: reader.group_page(query, cursor, limit), limit)
        assert [summary.ref for summary, _ in groups] == expected_groups
        for summary, members in groups:
            wanted = sorted((row for row in expected if row.ref.group == summary.ref), key=lambda row: row.ref.index)
            assert [row.id for row in members] == [row.id for row in wanted]
        assert reader.count(query) == (len(expected), len(expected_groups))
        for summary, members in groups[:2]:
            assert reader.group(summary.ref).completion_ids[members[0].ref.index] == members[0].id


def test_that_rows_written_meanwhile_shift_no_page(store):
    writer, reader = store
    run_id = writer.create_run(new_run())
    for number in range(1, 6):
        writer.emit(step(run_id, number))
    assert writer.flush()
    query = CompletionQuery(run_id)
    first = reader.completion_page(query, limit=10)
    expected = reader.completion_page(query, limit=1000).rows[10:]
    writer.emit(step(run_id, 6))
    assert writer.flush()
    assert reader.completion_page(query, first.cursor, 1000).rows == expected


def test_that_a_group_header_tells_right_answers_spread_and_signal(store):
    writer, reader = store
    run_id = writer.create_run(new_run())
    parts = (
        group(0, completions=tuple(completion(i, correct=i < 1, reward=float(i < 1), advantage=1.0) for i in range(4))),
        group(1, completions=tuple(completion(i, correct=None, reward=None, advantage=0.0) for i in range(2))),
    )
    writer.emit(step(run_id, 1, groups=parts))
    assert writer.flush()
    (second, first) = [summary for summary, _ in reader.group_page(CompletionQuery(run_id)).groups]
    assert (first.right, first.size, first.has_signal) == (1, 4, True)
    assert first.reward_std == pytest.approx(0.5)
    assert (second.right, second.size, second.reward_std, second.has_signal) == (None, 2, 0.0, False)


@pytest.mark.parametrize(
    ("needle", "texts"),
    [
        ("50%", ["50%"]),
        ("a_b", ["a_b"]),
        ("it's", ["it's"]),
        ('"', ['say "no"']),
        ("\\", ["back\\slash"]),
        ("ABC", ["xabcx", "ABC"]),
        ("naïve", ["naïve"]),
        ("🙂", ["smile 🙂"]),
        ("after", ["before\0after"]),
        ("\ud800", ["lone \ud800"]),
        ("\0", ["before\0after"]),
        ("שלום", ["שלום עולם"]),
        ("; DROP TABLE runs", []),
    ],
)
def test_that_search_takes_special_characters_as_they_are(store, needle, texts):
    writer, reader = store
    everything = [
        *("50%", "50x", "a_b", "axb", "it's", 'say "no"', "back\\slash", "xabcx", "ABC", "naïve", "smile 🙂"),
        *("before\0after", "lone \ud800", "שלום עולם"),
    ]
    run_id = writer.create_run(new_run())
    samples = tuple(completion(i, text) for i, text in enumerate(everything))
    writer.emit(step(run_id, 1, groups=(group(0, completions=samples, prompt="?"),)))
    assert writer.flush()
    page = reader.completion_page(CompletionQuery(run_id, search=needle, sort="oldest"))
    assert [row.text for row in page.rows] == texts
