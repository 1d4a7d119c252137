"""A training step of the candidate network goes into the store and comes back like any run's."""

import struct

import pytest

from grpo_gui.router.learner import NetworkLearner
from grpo_gui.router.network_events import step_completed
from grpo_gui.router.policy import RouterPolicy
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import GroupRef
from grpo_gui.store.writer import StoreWriter
from tests.router.test_network import EAGER, rated
from tests.store.samples import new_run


def test_that_the_store_keeps_a_step_of_the_network_like_any_other(tmp_path):
    step = NetworkLearner.begin(rated(RouterPolicy(), 60), EAGER).step()
    writer = StoreWriter.open(tmp_path / "a.db")
    run_id = writer.create_run(new_run())
    writer.emit(step_completed(run_id, step, inner_steps=4, step_time_s=0.25))
    assert writer.flush()
    with StoreReader(writer.path) as reader:
        assert {"kl", "reward", "clip_ratio/region_mean", "entropy"} <= set(reader.series_names(run_id))
        group = reader.group(GroupRef(run_id, 1, 0))
    writer.close()
    first = step.groups[0]
    assert group.prompt == first.decision.query
    assert [c.text for c in group.completions] == [first.decision.asked[place] for place in first.rated]
    assert [c.reward for c in group.completions] == pytest.approx(first.rewards)
    assert [c.advantage for c in group.completions] == pytest.approx(first.advantages)
    assert struct.unpack("<f", group.completions[0].logps)[0] < 0
    assert group.completions[0].kl_mean >= 0
