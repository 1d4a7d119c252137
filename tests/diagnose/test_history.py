import math

import numpy as np

from grpo_gui.diagnose.history import History


def test_that_windows_count_the_values_of_their_own_series():
    history = History()
    for step in range(1, 101):
        history.append(step, {"often": float(step)} | ({"seldom": float(step)} if step % 10 == 0 else {}))
    assert history.tail("often", 3).tolist() == [98.0, 99.0, 100.0]
    assert history.tail("seldom", 3).tolist() == [80.0, 90.0, 100.0]
    assert history.steps("seldom")[:2].tolist() == [10, 20]
    assert history.head("often", 2).tolist() == [1.0, 2.0]
    assert history.count("often") == 100


def test_that_nothing_is_there_before_it_is_recorded():
    history = History()
    assert (history.tail("a", 5).size, history.values("a").size, history.count("a")) == (0, 0, 0)
    assert (history.last_step("a"), history.is_fresh("a"), history.has("a")) == (None, False, False)


def test_that_values_that_are_not_finite_are_left_out_and_named():
    history = History()
    history.append(1, {"a": math.nan, "b": math.inf, "c": 1.0})
    assert history.not_finite == ("a", "b")
    assert not history.has("a")
    history.append(2, {"a": 1.0})
    assert history.not_finite == ()


def test_that_fresh_means_the_step_at_hand():
    history = History()
    history.append(1, {"a": 1.0})
    history.append(2, {"b": 1.0})
    assert (history.is_fresh("a"), history.is_fresh("b"), history.last_step("a")) == (False, True, 1)


def test_that_rows_come_back_as_they_were():
    history, rows = History(), {}
    random = np.random.default_rng(0)
    for step in range(1, 200):
        rows[step] = {name: float(random.normal()) for name in "abc" if random.random() < 0.5}
        history.append(step, rows[step])
    assert list(history.rows_before(150)) == [(step, row) for step, row in rows.items() if row and step < 150]


def test_that_the_middle_of_names_is_found():
    history = History()
    history.append(
        1, {"rewards/exact/std": 1.0, "rewards/a/b/std": 1.0, "rewards/exact/mean": 1.0, "rewards//std": 1.0}
    )
    assert history.names_between("rewards/", "/std") == ("exact", "a/b")
