"""The router at work with the models that are shipped: it asks, keeps, learns, and is the same after a restart."""

import random

import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.router.rewards import TradeOff
from grpo_gui.router_events import RouterAnswered, RouterDecided, RouterRated, RouterStarted
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records_router import DecisionQuery
from grpo_gui.tasks.making import make_task
from tests.snapshots.samples import make_snapshot
from tests.training.fakes import make_tiny_model

SORT = make_task("sort", min_size=8, max_size=9)
ADD = make_task("add", min_size=3, max_size=3)


def log_of(opened):
    with StoreReader(opened.path) as reader:
        return [entry.event for entry in reader.router_log()]


def leader(service, task):
    models = service.explain(task.sample(random.Random(99)).prompt).models
    return models[0].model, max(models, key=lambda model: model.propensity).model


def test_that_after_thirty_rated_queries_the_right_expert_is_preferred_also_after_a_restart(opened, ask):
    opened.service.begin()
    rng = random.Random(0)
    for number in range(30):
        problem = (SORT, ADD)[number % 2].sample(rng)
        decided, ended = ask(problem.prompt)
        assert {progress.state for progress in ended.values()} == {"done"}
        right = {model: ended[model].text.strip() == problem.answer for model in decided.asked}
        opened.service.rate(decided.decision, {model: 5 if is_right else 1 for model, is_right in right.items()})
    assert opened.service.wait_idle(60)
    before = opened.service.policy.weight_map()
    assert leader(opened.service, SORT) == ("sort expert", "sort expert")
    assert leader(opened.service, ADD) == ("add expert", "add expert")

    service = opened.reopen()

    assert service.policy.weight_map() == before
    assert leader(service, SORT) == ("sort expert", "sort expert")
    assert leader(service, ADD) == ("add expert", "add expert")
    assert service.wait_idle(60)
    assert service.candidate.steps >= 1


def test_that_nothing_is_written_before_the_first_change(opened):
    assert log_of(opened) == []
    opened.service.begin()
    assert isinstance(log_of(opened)[0], RouterStarted)


def test_that_decision_answers_and_rating_are_kept_with_cost_and_latency(opened, ask):
    opened.service.begin()
    decided, ended = ask("Sort the digits: 3142")
    opened.service.rate(decided.decision, {"sort expert": 5})
    kept = log_of(opened)
    assert [event for event in kept if isinstance(event, RouterDecided)] == [decided]
    answers = {event.model: event for event in kept if isinstance(event, RouterAnswered)}
    assert {model: answer.text for model, answer in answers.items()} == {m: p.text for m, p in ended.items()}
    assert answers["sort expert"].text == "1234"
    assert answers["sort expert"].tokens == 5
    (rated,) = (event for event in kept if isinstance(event, RouterRated))
    assert rated.ratings[0].quality == 1.0
    assert rated.ratings[0].latency_s == answers["sort expert"].latency_s > 0
    with StoreReader(opened.path) as reader:
        (found,) = reader.router_decisions(DecisionQuery(search="1234"))
    assert found.decided == decided


def test_that_the_class_of_a_built_in_task_is_the_task_and_says_why(opened, ask):
    opened.service.begin()
    assert opened.service.explain("What is 12 + 7?").query_class == "add"
    explanation = opened.service.explain("Sort the digits: 31")
    assert (explanation.query_class, explanation.reason) == ("sort", "it is a prompt of this built-in task")
    assert opened.service.explain("Solve this equation").query_class == "math"


@pytest.mark.parametrize("stars", [0, 6, 2.5, "5", None, float("nan")])
def test_that_a_rating_outside_one_to_five_is_refused_and_nothing_is_kept(opened, ask, stars):
    opened.service.begin()
    decided, _ = ask("Sort the digits: 3142")
    with pytest.raises(BadInputError, match="rate from 1 to 5"):
        opened.service.rate(decided.decision, {"sort expert": 5, "base": stars})
    assert not any(isinstance(event, RouterRated) for event in log_of(opened))


def test_that_a_model_without_an_answer_cannot_be_rated(opened):
    opened.service.begin()
    decided, _, asking = opened.service.ask("Sort the digits: 3142", lambda _: None)
    asking.cancel()
    with pytest.raises(BadInputError, match="gave no answer"):
        opened.service.rate(decided.decision, {decided.asked[0]: 3})


def test_that_a_cancelled_query_is_over_at_once_and_kept_as_cancelled(opened):
    opened.service.begin()
    told = []
    decided, _, asking = opened.service.ask("Sort the digits: 3142", told.append)
    asking.cancel()
    asking.start()
    assert asking.wait(30)
    assert {progress.state for progress in told if progress.is_over} == {"cancelled"}
    kept = [event for event in log_of(opened) if isinstance(event, RouterAnswered)]
    assert [event.error for event in kept] == ["It was cancelled."] * len(decided.asked)


def test_that_without_models_and_without_a_query_a_sentence_says_what_to_do(opened):
    with pytest.raises(BadInputError, match="no models yet"):
        opened.service.ask("Hello", lambda _: None)
    opened.service.begin()
    with pytest.raises(BadInputError, match="query is empty"):
        opened.service.ask("  ", lambda _: None)


def test_that_a_query_too_long_for_a_model_says_so_and_leaves_it_alive(opened, ask):
    opened.service.begin()
    _, ended = ask("x" * 2000, count=1)
    (progress,) = ended.values()
    assert progress.state == "failed"
    assert "exceeds" in progress.sentence
    assert {health.state for health in opened.service.models.all()} <= {"ready", "loading"}


def test_that_a_removed_model_is_not_asked_and_keeps_its_history_when_it_comes_back(opened, ask):
    service = opened.service
    service.begin()
    decided, _ = ask("Sort the digits: 3142")
    service.rate(decided.decision, {"sort expert": 5, "base": 1})
    service.remove_model("sort expert")
    assert "sort expert" not in ask("Sort the digits: 3142")[0].candidates
    service.begin()
    rated = {model.model: model.ratings for model in service.explain("Sort the digits: 31").models}
    assert rated["sort expert"] == 1


def test_that_a_renamed_model_is_asked_and_rated_under_its_new_name_also_after_a_restart(opened, ask):
    service = opened.service
    service.begin()
    decided, _ = ask("Sort the digits: 3142")
    service.rename_model("sort expert", "sorter")
    service.rate(decided.decision, {"sorter": 5, "base": 1})
    service = opened.reopen()
    assert {health.model.name for health in service.models.all()} == {"base", "sorter", "add expert"}
    assert ask("Sort the digits: 21")[1]["sorter"].state == "done"


def test_that_a_folder_that_is_gone_is_shown_as_dead_and_not_asked(opened, ask, tmp_path):
    service = opened.service
    service.begin()
    folder = tmp_path / "model"
    folder.mkdir()
    service.add_folder("mine", str(folder))
    _, ended = ask("Sort the digits: 21", count=4)
    assert ended["mine"].state == "failed"  # an empty folder is no model
    dead = {health.model.name: health for health in service.models.all()}["mine"]
    assert dead.state == "dead"
    assert dead.sentence == ended["mine"].sentence
    assert "mine" not in ask("Sort the digits: 21", count=4)[0].candidates


def test_that_a_snapshot_of_a_run_is_asked_and_a_damaged_one_is_dead(opened, ask, tmp_path):
    model = make_tiny_model(tmp_path / "tiny")
    snapshot = make_snapshot(tmp_path / "a", model).path
    opened.service.begin()
    opened.service.add_folder("mine", str(snapshot))
    decided, ended = ask("Sort the digits: 21", count=4)
    assert ended["mine"].state == "done"
    assert 0 < ended["mine"].tokens <= 16
    opened.service.rate(decided.decision, {"mine": 1})
    opened.reopen()
    weights = snapshot / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4])
    assert ask("Sort the digits: 21", count=4)[1]["mine"].state == "failed"
    (dead,) = (health for health in opened.service.models.all() if health.state == "dead")
    assert (dead.model.name, dead.model.kind) == ("mine", "snapshot")
    assert "model.safetensors" in dead.sentence


def test_that_the_name_of_a_model_must_be_new_and_the_folder_there(opened, tmp_path):
    opened.service.begin()
    with pytest.raises(BadInputError, match="does not exist"):
        opened.service.add_folder("mine", str(tmp_path / "nothing"))
    with pytest.raises(BadInputError, match="already"):
        opened.service.add_folder("base", str(tmp_path))
    with pytest.raises(BadInputError, match="needs a name"):
        opened.service.add_folder(" ", str(tmp_path))


def test_that_the_trade_off_moves_what_was_stored_at_once(opened, ask):
    service = opened.service
    service.begin()
    decided, _ = ask("Sort the digits: 3142")
    service.rate(decided.decision, {model: 5 if model == "base" else 4 for model in decided.asked})
    before = service.policy.weight_map()
    service.set_trade_off(TradeOff(0.0, 1000.0))
    assert service.policy.weight_map() != before
    service.set_trade_off(TradeOff(0.0, 0.0))
    assert service.policy.weight_map() == before
