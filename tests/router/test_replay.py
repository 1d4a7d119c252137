"""Replaying the log makes table and network again exactly; a table goes on elsewhere as it would have here."""

import json
import random

import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.router.config import RouterConfig
from grpo_gui.router.context import context_from_text
from grpo_gui.router.policy import RouterPolicy
from grpo_gui.router.replay import replay
from grpo_gui.router.rewards import Outcome, TradeOff
from grpo_gui.router.state import RouterState, table_to_json
from grpo_gui.router_events import RouterAnswered, RouterModeSet, RouterWeightsMoved
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.writer import StoreWriter

QUERIES = ("solve 1 + 1", "def f", "hello", "x" * 100, "y" * 600)


def live(policy, steps, seed=0, models=("a", "b", "c")):
    generator = random.Random(seed)
    for _ in range(steps):
        made = policy.propose(context_from_text(generator.choice(QUERIES)), models)
        policy.record(RouterAnswered(made.decision, made.asked[0], "text", 1, 0.0, 0.1))
        rated = made.asked[: generator.randint(1, len(made.asked))]
        policy.rate(
            made.decision, {m: Outcome(generator.random(), generator.random(), generator.random()) for m in rated}
        )
    return policy


def everything(policy):
    return table_to_json(policy.state)


def test_that_replaying_the_log_reproduces_the_table_exactly():
    log = []
    policy = live(RouterPolicy(RouterConfig(group_size=2, discount=0.98), seed=5, record=log.extend), 60)
    policy.set_trade_off(TradeOff(0.3, 0.1))
    live(policy, 20, 1)
    policy.set_mode("locked")
    live(policy, 10, 2)
    policy.rename_model("a", "z")
    policy.set_mode("learn")
    live(policy, 20, 3, ("z", "b", "new"))
    again = replay(log)
    assert everything(again.policy) == everything(policy)
    assert again.differences == ()
    assert again.weights_compared == sum(isinstance(event, RouterWeightsMoved) for event in log) > 50
    assert again.learner is None
    live(policy, 10, 4)
    live(again.policy, 10, 4)
    assert everything(again.policy) == everything(policy)  # and goes on the same


def test_that_of_many_trade_offs_in_a_row_the_last_counts_and_the_others_cost_nothing(monkeypatch):
    log = []
    policy = live(RouterPolicy(seed=5, record=log.extend), 20)
    for percent in range(50):
        policy.set_trade_off(TradeOff(percent / 100, 0.1))
    live(policy, 10, 1)
    learned_again = []
    learn_again = RouterState._learn_again
    monkeypatch.setattr(RouterState, "_learn_again", lambda state: (learned_again.append(1), learn_again(state)))
    again = replay(log)
    assert everything(again.policy) == everything(policy)
    assert len(learned_again) == 1


def test_that_a_log_goes_through_the_database_and_back_exactly(tmp_path):
    writer = StoreWriter.open(tmp_path / "a.db")
    policy = live(RouterPolicy(seed=5, record=writer.append_router), 40)
    with StoreReader(writer.path) as reader:
        again = replay([entry.event for entry in reader.router_log()], record=writer.append_router)
    assert everything(again.policy) == everything(policy)
    live(again.policy, 5, 9)
    with StoreReader(writer.path) as reader:
        assert everything(replay([entry.event for entry in reader.router_log()]).policy) == everything(again.policy)
    writer.close()


def test_that_a_difference_is_named():
    log = []
    live(RouterPolicy(seed=5, record=log.extend), 10)
    place = next(i for i, event in enumerate(log) if isinstance(event, RouterWeightsMoved))
    moved = log[place]
    log[place] = RouterWeightsMoved(moved.decision, moved.query_class, moved.models, (9.0, 9.0, 9.0))
    (difference,) = replay(log).differences
    assert f"decision {moved.decision}" in difference


def test_that_a_log_must_begin_with_the_options():
    log = []
    live(RouterPolicy(record=log.extend), 2)
    with pytest.raises(BadInputError, match="begins with its options"):
        replay(log[1:])
    with pytest.raises(BadInputError, match="begins with its options"):
        replay([*log, log[0]])


def test_that_an_exported_table_goes_on_elsewhere_as_here():
    policy = live(RouterPolicy(seed=5), 60)
    table = everything(policy)
    log = []
    other = RouterPolicy(seed=5, record=log.extend)
    other.import_table(table)
    assert everything(other) == table
    other.set_trade_off(TradeOff(0.5, 0.0))
    live(other, 10, 7, ("a", "b", "c", "new"))
    assert everything(replay(log).policy) == everything(other)
    with pytest.raises(BadInputError, match="before the first decision"):
        other.import_table(table)


@pytest.mark.parametrize("damage", ["", "[]", "{}", "null", "weights", "cells", "infinite"])
def test_that_what_is_no_table_is_refused_and_changes_nothing(damage):
    table = everything(live(RouterPolicy(seed=5), 10))
    values = json.loads(table)
    if damage == "weights":
        values["table"]["weights"] = [[1.0]]
    elif damage == "cells":
        values["arms"]["cells"] = values["arms"]["cells"][:2]
    elif damage == "infinite":
        values["table"]["weights"][0][0] = float("inf")
    text = json.dumps(values) if damage in ("weights", "cells", "infinite") else damage
    log = []
    policy = RouterPolicy(record=log.extend)
    before = everything(policy)
    with pytest.raises(BadInputError, match="not a table of the router"):
        policy.import_table(text)
    assert everything(policy) == before
    assert len(log) == 1


def test_that_an_unknown_mode_in_a_log_is_named():
    log = []
    live(RouterPolicy(record=log.extend), 1)
    with pytest.raises(BadInputError, match="choose locked, shadow or learn"):
        replay([*log, RouterModeSet("wild")])
