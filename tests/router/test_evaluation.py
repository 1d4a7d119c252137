"""Evaluation on known rewards: the file, the protocol, the baselines."""

import math

import numpy as np
import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.router.baselines import BASELINES, make_baseline
from grpo_gui.router.evaluation import (
    Figure,
    baseline_accuracy,
    baseline_stream,
    evaluate,
    router_accuracy,
    router_stream,
)
from grpo_gui.router.rewards import TradeOff
from grpo_gui.router.routing_data import RoutingData, read_routing_csv


def data(queries=400, seed=0):
    """Two classes, three models; the best model differs by class."""
    generator = np.random.default_rng(seed)
    truth = {"x": (0.9, 0.5, 0.2), "y": (0.3, 0.5, 0.8)}
    classes = tuple(generator.choice(["x", "y"], queries).tolist())
    qualities = np.array([(generator.random(3) < truth[name]).astype(float) for name in classes])
    zeros = np.zeros_like(qualities)
    return RoutingData(("",) * queries, classes, ("a", "b", "c"), qualities, zeros, zeros)


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_that_the_router_has_less_regret_than_chance_and_finds_the_best_models():
    table = data()
    router = np.mean([router_stream(table, seed).regret for seed in range(3)])
    chance = np.mean([baseline_stream(table, "random", seed).regret for seed in range(3)])
    assert router < 0.4 * chance
    accuracy = list(router_accuracy(table, 0).values())[-1]
    assert accuracy > baseline_accuracy(table, "best_single", 0) > baseline_accuracy(table, "random", 0)


def test_that_regret_is_measured_against_the_best_model_of_each_class_in_hindsight():
    table = data(40)
    stream = baseline_stream(table, "best_single", 0)
    names = np.array(table.classes)
    best = sum(table.rewards[names == name].sum(0).max() for name in "xy")
    assert stream.best.sum() == pytest.approx(best)
    assert stream.regret == pytest.approx(best - table.rewards[:, table.rewards.mean(0).argmax()].sum())


def test_that_with_drift_the_columns_rotate_at_half_time():
    table = data(100)
    still, moved = (baseline_stream(table, "best_single", 0, drift=drift) for drift in (False, True))
    assert still.earned[:50].tolist() == moved.earned[:50].tolist()
    order = np.random.default_rng(0).permutation(100)
    best = int(table.rewards.mean(0).argmax())
    assert moved.earned[50:].tolist() == table.rewards[order[50:], (best - 1) % 3].tolist()


def test_that_the_router_recovers_from_drift():
    table = data(1500)
    second_half = router_stream(table, 0, drift=True).earned[1000:].mean()
    assert second_half > baseline_stream(table, "random", 0, drift=True).earned[1000:].mean() + 0.15


def test_that_accuracy_is_measured_on_rows_that_did_not_teach():
    table = data(41)
    result = router_accuracy(table, 0, budgets=(5, 30, 10_000))
    assert sorted(result) == [5, 30, 63]  # 21 queries, all 3 models each


@pytest.mark.parametrize("name", BASELINES)
def test_that_every_baseline_runs_and_is_seeded(name):
    table = data(200)
    assert baseline_stream(table, name, 1).earned.tolist() == baseline_stream(table, name, 1).earned.tolist()
    assert 0 <= baseline_accuracy(table, name, 1) <= 1


def test_that_learning_baselines_beat_chance():
    table = data(600)
    chance = baseline_stream(table, "random", 0).regret
    for name in ("epsilon_greedy", "ucb1", "thompson"):
        assert baseline_stream(table, name, 0).regret < 0.6 * chance
    with pytest.raises(ValueError, match="no baseline 'oracle'"):
        make_baseline("oracle", table.rewards, 2, 0)


def test_that_the_evaluation_has_the_documented_keys():
    figures = evaluate(data(60), range(2))
    assert {"accuracy", "regret", "baselines"} <= set(figures)
    assert set(figures["baselines"]) == set(BASELINES)
    assert len(figures["regret"]["per_seed"]) == 2
    assert figures["regret"]["low"] <= figures["regret"]["mean"] <= figures["regret"]["high"]


def test_that_cost_and_latency_change_what_is_best():
    table = data(300)
    dear = RoutingData(
        table.queries, table.classes, table.models, table.qualities, np.array([[2.0, 0, 0]] * 300), table.latencies,
        TradeOff(cost_weight=1.0),
    )  # fmt: skip
    assert dear.rewards[:, 0].max() <= -1.0
    assert (router_stream(dear, 0).earned[150:] < -0.5).mean() < 0.03  # only the floor asks the dear model
    for name in BASELINES:
        assert math.isfinite(baseline_stream(dear, name, 0).regret)


def test_that_a_figure_has_students_interval():
    figure = Figure.of([1.0, 2.0, 3.0])
    assert (figure.mean, figure.low) == (2.0, pytest.approx(2.0 - 4.303 / 3**0.5))
    assert Figure.of([1.0]).low is None
    assert Figure.of([1.0, 2.0] * 10).high == pytest.approx(1.5 + 2.093 * 0.51299 / 20**0.5, abs=2e-3)


# -- the file ---------------------------------------------------------------------------------------------------


def test_that_a_file_is_read_with_costs_latencies_and_classes_that_follow_from_the_text(tmp_path):
    path = write(
        tmp_path / "a.csv",
        '\ufeffquery,class,a,b,a:cost,b:latency\nhello,,1,0.5,0.25,2\n"solve\nit, please",mine,0,1,0,0.5\n\n',
    )
    table = read_routing_csv(path)
    assert table.queries == ("hello", "solve\nit, please")
    assert table.classes == ("short", "mine")
    assert table.models == ("a", "b")
    assert table.qualities.tolist() == [[1, 0.5], [0, 1]]
    assert table.costs.tolist() == [[0.25, 0], [0, 0]]
    assert table.latencies.tolist() == [[0, 2], [0, 0.5]]
    assert read_routing_csv(write(tmp_path / "b.csv", "query,a\nsolve it,1\n")).classes == ("math",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("query,class,a\n", "no rows"),
        ("question,class,a\nx,y,1\n", "no column `query`"),
        ("query,class\nx,y\n", "no column with a model's rewards"),
        ("query,class,a,a\nx,y,1,1\n", "'a' is there twice"),
        ("query,class,a\nx,y\n", "row 2: it has 2 cells"),
        ("query,class,a\nx,y,1\nx,y,good\n", "row 3, column 'a': 'good' is no number from 0 to 1"),
        ("query,class,a\nx,y,nan\n", "'nan' is no number"),
        ("query,class,a\nx,y,\n", "'' is no number"),
        ("query,class,a\nx,y,1.5\n", "'1.5' is no number from 0 to 1"),
        ("query,class,a,a:cost\nx,y,1,-1\n", "'-1' is no number of 0 or more"),
        ("query,class,a,b:cost\nx,y,1,1\n", "'b:cost' belongs to no model"),
        ("query,class,a,\nx,y,1,1\n", "without a name"),
    ],
)
def test_that_a_bad_file_is_named_with_row_and_column(tmp_path, text, message):
    with pytest.raises(BadInputError, match=message):
        read_routing_csv(write(tmp_path / "a.csv", text))


def test_that_a_missing_or_binary_file_is_named(tmp_path):
    with pytest.raises(BadInputError, match="cannot be read"):
        read_routing_csv(tmp_path / "none.csv")
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00query")
    with pytest.raises(BadInputError, match="not a CSV file in UTF-8"):
        read_routing_csv(tmp_path / "b.csv")
