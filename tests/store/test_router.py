"""The router's log in the database: every field comes back, in order, and nothing of it can be changed."""

import sqlite3

import pytest

from grpo_gui.errors import StoreError
from grpo_gui.router_events import (
    ModelRating,
    RouterAnswered,
    RouterDecided,
    RouterImported,
    RouterModelAdded,
    RouterModelRemoved,
    RouterModelRenamed,
    RouterModeSet,
    RouterNetworkStarted,
    RouterNetworkStepped,
    RouterPromoted,
    RouterRated,
    RouterRolledBack,
    RouterStarted,
    RouterTradeOffSet,
    RouterWeightsMoved,
)
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records_router import DecisionQuery
from grpo_gui.store.router_codec import KINDS
from grpo_gui.store.writer import StoreWriter


def decided(number, query="Which?", query_class="short", asked=("b", "a")):
    return RouterDecided(
        decision=number,
        query=query,
        query_class=query_class,
        reason="it has fewer than 50 characters",
        policy="table",
        sampler="thompson",
        candidates=("a", "b", "c"),
        probabilities=(0.1, 0.2, 0.7),
        proposal=(1 / 3, 1 / 3, 1 / 3),
        asked=asked,
        propensities=(1 / 3, 0.1 + 0.2)[: len(asked)],
    )


EVERYTHING = (
    RouterStarted('{"group_size": 2}', 5),
    RouterImported('{"weights": [0.1]}'),
    decided(1),
    RouterAnswered(1, "b", "An answer with NUL \0 and \ud800", 12, 0.1, 2.5),
    RouterAnswered(1, "a", "", None, 0.0, 30.0, "It did not answer in 30 s."),
    RouterRated(1, (ModelRating("b", 0.1 + 0.2, 0.1, 2.5), ModelRating("a", 0.0, 0.0, 30.0))),
    RouterWeightsMoved(1, "short", ("a", "b", "c"), (-0.1, 0.30000000000000004, 1e-300)),
    RouterTradeOffSet(0.2, 0.08),
    RouterModeSet("shadow"),
    RouterModelRenamed("a", "ä"),
    RouterModelAdded("far", "endpoint", "qwen", "http://localhost:8000/v1", "env:KEY", 0.25),
    RouterModelRemoved("far"),
    RouterNetworkStarted("{}", "cpu"),
    RouterNetworkStepped(1, "ab12"),
    RouterPromoted(1, b"\0\1\2", 0.012, 0.004, 0.028),
    RouterRolledBack(),
    decided(2, "Solve x = 1", "math", ("c",)),
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.db"


@pytest.fixture
def writer(path):
    writer = StoreWriter.open(path)
    yield writer
    writer.close()


def test_that_every_kind_of_entry_comes_back_equal_and_in_order(writer, path):
    assert {type(event) for event in EVERYTHING} == set(KINDS)
    writer.append_router(EVERYTHING[:6])
    writer.append_router(EVERYTHING[6:])
    with StoreReader(path) as reader:
        entries = reader.router_log()
        assert tuple(entry.event for entry in entries) == EVERYTHING
        assert [entry.id for entry in entries] == sorted(entry.id for entry in entries)
        later = reader.router_log(entries[4].id)
        assert tuple(entry.event for entry in later) == EVERYTHING[5:]


@pytest.mark.parametrize(
    "table", ["log", "decisions", "candidates", "answers", "ratings", "weights", "networks"], ids=lambda name: name
)
def test_that_no_row_can_be_changed_or_deleted(writer, path, table):
    writer.append_router(EVERYTHING)
    connection = sqlite3.connect(path)
    column = connection.execute(f"PRAGMA table_info(router_{table})").fetchall()[0][1]
    for statement in (f"UPDATE router_{table} SET {column} = {column}", f"DELETE FROM router_{table}"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()


def test_that_entries_written_together_are_all_there_or_none(writer, path):
    writer.append_router(EVERYTHING[:3])
    with pytest.raises(StoreError):
        writer.append_router((RouterModeSet("locked"), decided(1)))  # the number is taken
    with StoreReader(path) as reader:
        assert len(reader.router_log()) == 3


def test_that_decisions_are_found_with_what_followed_them(writer, path):
    writer.append_router(EVERYTHING)
    with StoreReader(path) as reader:
        newest, oldest = reader.router_decisions(DecisionQuery())
        assert (newest.decided, newest.answers, newest.ratings) == (EVERYTHING[16], (), ())
        assert (oldest.decided, oldest.answers, oldest.ratings) == (EVERYTHING[2], EVERYTHING[3:5], (EVERYTHING[5],))
        assert reader.router_decisions(DecisionQuery(), before=2) == (oldest,)
        assert reader.router_decisions(DecisionQuery(), limit=1) == (newest,)
        assert reader.router_decisions(DecisionQuery(search="SOLVE")) == (newest,)
        assert reader.router_decisions(DecisionQuery(query_class="short")) == (oldest,)
        assert reader.router_decisions(DecisionQuery(model="c")) == (newest,)
        assert reader.router_decisions(DecisionQuery(unrated=True)) == (newest,)
        assert reader.router_decisions(DecisionQuery(search="nothing like it")) == ()


def test_that_a_search_finds_answers_too(writer, path):
    writer.append_router((*EVERYTHING[:3], RouterAnswered(1, "b", "Forty-two", 2, 0.0, 0.1)))
    with StoreReader(path) as reader:
        assert [record.decided.decision for record in reader.router_decisions(DecisionQuery(search="forty"))] == [1]


def test_that_weights_have_a_history(writer, path):
    writer.append_router(EVERYTHING)
    writer.append_router((RouterWeightsMoved(2, "short", ("a", "b", "c"), (0.5, 0.0, 0.0)),))
    with StoreReader(path) as reader:
        assert [(p.decision, p.weight) for p in reader.router_weights("short", "a")] == [(1, -0.1), (2, 0.5)]
        assert reader.router_weights("short", "nobody") == ()
