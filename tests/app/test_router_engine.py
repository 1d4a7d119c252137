"""The engine of the Router view: real models in its threads, callbacks on the GUI thread."""

import threading

import pytest

from grpo_gui.app.router_engine import RouterWorker
from grpo_gui.router.rewards import TradeOff
from grpo_gui.store.records_router import DecisionQuery
from grpo_gui.store.writer import StoreWriter
from grpo_gui.ui.router_engine import NewModel


class Window:
    """What a view would keep."""

    def __init__(self, engine):
        self.engine = engine
        self.overviews, self.asked, self.answers, self.failures = [], [], [], []
        self.threads = set()
        engine.watch(self.take)

    def take(self, overview):
        self.threads.add(threading.current_thread())
        self.overviews.append(overview)

    def heard(self, answer):
        self.threads.add(threading.current_thread())
        self.answers.append(answer)

    def ask(self, query, **options):
        return self.engine.ask(query, self.asked.append, self.heard, self.failures.append, **options)

    @property
    def ended(self):
        return {a.model: a for a in self.answers if a.state in ("done", "failed", "cancelled")}


@pytest.fixture
def database(tmp_path):
    return tmp_path / "a.db"


@pytest.fixture
def writer(database):
    result = StoreWriter.open(database)
    yield result
    result.close()


@pytest.fixture
def window(qapp, database, writer):
    engine = RouterWorker(database, writer, lambda: 1, "cpu")
    yield Window(engine)
    engine.close()


@pytest.fixture
def begun(window, qtbot):
    qtbot.waitUntil(lambda: bool(window.overviews), timeout=20_000)
    assert window.overviews[0].models == ()
    window.engine.begin(window.failures.append)
    qtbot.waitUntil(lambda: [m.state for m in window.engine.overview.models] == ["ready"] * 3, timeout=20_000)
    return window


def test_that_a_query_is_asked_streamed_rated_and_seen_in_the_overview(begun, qtbot):
    begun.ask("Sort the digits: 31415926")
    qtbot.waitUntil(lambda: len(begun.ended) == 3, timeout=60_000)
    (asked,) = begun.asked
    assert begun.answers[0].state == "waiting"
    assert [answer.state for answer in begun.answers if answer.model == "base"][-2:] == ["streaming", "done"]
    assert begun.ended["sort expert"].text == "11234569"
    assert set(asked.decided.asked) == begun.ended.keys()
    assert asked.explanation.query_class == "sort"

    done = []
    stars = {model: 5 if model == "sort expert" else 1 for model in asked.decided.asked}
    begun.engine.rate(asked.decided.decision, stars, lambda: done.append(True), begun.failures.append)
    qtbot.waitUntil(lambda: begun.engine.overview.ratings == 3, timeout=20_000)
    assert done == [True]
    overview = begun.engine.overview
    assert overview.weights.classes == ("sort",)
    assert overview.weights.ratings == ((1, 1, 1),)
    assert len(overview.regret.decisions) == 1
    assert overview.drift is not None
    assert overview.decisions == 1
    assert begun.failures == []
    assert begun.threads == {threading.main_thread()}


def test_that_a_cancel_before_and_after_the_decision_ends_every_answer(begun, qtbot):
    cancel = begun.ask("Sort the digits: 31")
    cancel()
    qtbot.waitUntil(lambda: len(begun.ended) == 3, timeout=60_000)
    assert {answer.state for answer in begun.ended.values()} == {"cancelled"}
    cancel()
    assert begun.failures == []


def test_that_the_trade_off_the_mode_and_the_models_are_set_and_faults_are_sentences(begun, qtbot, tmp_path):
    engine, failed = begun.engine, begun.failures.append
    engine.set_trade_off(TradeOff(0.5, 0.1), failed)
    engine.set_mode("shadow", failed)
    engine.rename_model("base", "old hand", failed)
    engine.remove_model("add expert", failed)
    added = []
    engine.add_model(NewModel("mine", str(tmp_path)), lambda: added.append(True), failed)
    qtbot.waitUntil(lambda: bool(added), timeout=20_000)
    qtbot.waitUntil(lambda: len(engine.overview.models) == 3, timeout=20_000)
    overview = engine.overview
    assert (overview.trade_off, overview.mode) == (TradeOff(0.5, 0.1), "shadow")
    assert {model.name: model.kind for model in overview.models} == {
        "old hand": "built-in",
        "sort expert": "built-in",
        "mine": "snapshot",
    }
    assert begun.failures == []
    engine.set_mode("asleep", failed)
    engine.promote(failed)
    engine.roll_back(failed)
    engine.add_model(NewModel("mine", str(tmp_path)), lambda: added.append(True), failed)
    engine.rate(99, {"mine": 3}, lambda: None, failed)
    engine.explain(" ", lambda _: None, failed)
    qtbot.waitUntil(lambda: len(begun.failures) == 6, timeout=20_000)
    assert [failure.traceback for failure in begun.failures] == [""] * 6


def test_that_the_key_of_a_new_model_is_not_in_its_text():
    assert "secret" not in repr(NewModel("far", "m", "http://localhost/v1", key="secret", key_variable="secret"))


def test_that_decisions_are_found_by_their_text(begun, qtbot):
    begun.ask("Sort the digits: 31", count=1)
    begun.ask("What is 1 + 2?", count=1)
    qtbot.waitUntil(lambda: len(begun.asked) == 2 and len(begun.answers) >= 2, timeout=60_000)
    found = []
    begun.engine.history(DecisionQuery(search="digits"), None, found.append, begun.failures.append)
    qtbot.waitUntil(lambda: bool(found), timeout=20_000)
    assert [record.decided.query for record in found[0]] == ["Sort the digits: 31"]


def test_that_closing_ends_what_is_under_way(begun, qtbot):
    begun.ask("Sort the digits: 31")
    qtbot.waitUntil(lambda: bool(begun.asked), timeout=60_000)
    begun.engine.close()
    names = {thread.name for thread in threading.enumerate()}
    assert "router network" not in names
    assert "router endpoints" not in names
