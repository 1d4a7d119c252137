import time

import pytest

from grpo_gui.training.clock import StepClock


@pytest.fixture
def ticking(monkeypatch):
    """A clock that a test sets forward by hand."""
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def forward(seconds: float) -> None:
        now[0] += seconds

    return forward


def test_that_parts_add_up_and_a_pause_counts_for_none(ticking):
    clock = StepClock({"update": 1.0})
    with clock.measure("rollout"):
        ticking(2)
        with clock.stopped():
            ticking(50)
        ticking(1)
    with clock.measure("update"):
        ticking(4)
    with clock.stopped():
        ticking(9)
    assert clock.parts == {"rollout": 3.0, "update": 5.0}
    assert clock.total_s() == 8.0


def fail_after(seconds: float, clock: StepClock, ticking) -> None:
    with clock.measure("reward"):
        ticking(seconds)
        raise ValueError("bad")


def test_that_a_part_is_counted_also_when_it_fails(ticking):
    clock = StepClock()
    with pytest.raises(ValueError, match="bad"):
        fail_after(2, clock, ticking)
    assert clock.parts == {"reward": 2.0}
