"""Runs that other programs call broken and that are not. Nothing may be found in them."""

import numpy as np
import pytest

pytest.importorskip("rlprobe", reason="needs rlprobe (pip install rlprobe==0.1.0)")

from benchmarks._diagnosis_traps import TRAPS, Trap, findings_of, healthy


@pytest.mark.parametrize("name", TRAPS)
def test_that_a_trap_is_no_finding(name):
    assert findings_of(TRAPS[name]) == []


@pytest.mark.parametrize("seed", range(1, 5))
def test_that_binary_rewards_of_other_seeds_are_none(seed):
    assert findings_of(TRAPS["binary rewards"], seed) == []


def test_that_a_log_interval_of_ten_still_finds_trouble():
    def runs_away(step, row):
        return healthy(step // 10, np.random.default_rng(step)) | {"kl": 3.0}

    assert "kl_runaway" in findings_of(Trap(runs_away, steps=range(10, 2000, 10)))
