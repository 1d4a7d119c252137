import pytest

from grpo_gui.store.records import GroupRecord, GroupRef
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.ui.models.reward_parts import aggregation_sentence, group_numbers, reward_parts
from tests.ui.fakes import completion

SPECS = (RewardSpec("exact", "exact", 1.0), RewardSpec("format", "regex", 0.5, "x"))


def record(*rewards: tuple[float | None, float | None]) -> GroupRecord:
    samples = []
    for index, (exact, form) in enumerate(rewards):
        spoken = [w * v for w, v in ((1.0, exact), (0.5, form)) if v is not None]
        samples.append(completion(index, sum(spoken) if spoken else None, rewards=(("exact", exact), ("format", form))))
    return GroupRecord(1, GroupRef(1, 1, 0), "compare", "?", None, (), (1, 2, 3, 4), tuple(samples))


def test_that_a_source_adds_weight_times_value_and_none_adds_nothing():
    parts = reward_parts(record((1.0, None), (0.0, 1.0)), 0, TrainConfig(rewards=SPECS))
    assert [(part.source, part.adds) for part in parts] == [("exact", 1.0), ("format", None)]
    assert [part.weight for part in parts] == [1.0, 0.5]


def test_that_normalising_first_gives_the_parts_of_the_worked_case():
    config = TrainConfig(rewards=SPECS, multi_objective_aggregation="normalize_then_sum")
    group = record((1.0, None), (0.0, 1.0), (None, None), (0.5, 0.0))
    sums = [sum(part.adds or 0.0 for part in reward_parts(group, index, config)) for index in range(4)]
    # exact: mean .5, std .5; format: mean .5, std .7071; eps 1e-4 in both
    assert sums == pytest.approx([0.9998, -0.6463, 0.0, -0.3535], abs=1e-3)


def test_that_a_source_with_equal_values_adds_exactly_nothing():
    config = TrainConfig(rewards=SPECS, multi_objective_aggregation="normalize_then_sum")
    parts = reward_parts(record((0.95, 1.0), (0.95, 1.0), (0.95, 0.0)), 0, config)
    assert parts[0].adds == 0.0


def test_that_mean_and_std_leave_out_completions_without_a_reward():
    numbers = group_numbers(record((1.0, None), (0.0, None), (None, None)))
    assert numbers.mean == pytest.approx(0.5)
    assert numbers.std == pytest.approx(0.7071, abs=1e-4)
    assert group_numbers(record((1.0, None), (0.0, None)), std="population").std == pytest.approx(0.5)


def test_that_a_group_without_any_reward_has_no_mean():
    numbers = group_numbers(record((None, None), (None, None)))
    assert (numbers.mean, numbers.std) == (None, None)


def test_that_the_way_to_the_advantage_is_said_in_words():
    assert aggregation_sentence(TrainConfig()) == "sum, then normalised in the group"
    assert "not scaled" in aggregation_sentence(TrainConfig(scale_rewards="none"))
    assert "each source" in aggregation_sentence(TrainConfig(multi_objective_aggregation="normalize_then_sum"))
