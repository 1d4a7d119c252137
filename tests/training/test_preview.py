import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.training.preview import preview


def test_that_a_preview_is_one_group_of_the_task_with_its_rewards():
    group = preview(TrainConfig(task="sort", num_generations=4), seed=3)
    assert group.prompt.startswith("Sort the digits: ")
    assert [completion.index for completion in group.completions] == [0, 1, 2, 3]
    for completion in group.completions:
        assert completion.reward == float(completion.text.strip() == group.answer)
        assert completion.rewards == (("exact", completion.reward),)
        assert len(completion.tokens) == len(completion.token_ids) == len(completion.old_logps) // 4


def test_that_the_same_seed_gives_the_same_group_and_another_one_another():
    config = TrainConfig(task="add")
    assert preview(config, 1) == preview(config, 1)
    assert preview(config, 1) != preview(config, 2)


def test_that_advantages_sum_to_zero():
    group = preview(TrainConfig(rewards=(RewardSpec("length", "length", argument="5"),)), 0)
    assert sum(completion.advantage for completion in group.completions) == pytest.approx(0, abs=1e-6)


def test_that_a_missing_prompt_file_is_told():
    with pytest.raises(BadInputError, match="nowhere"):
        preview(TrainConfig(task="file", prompt_file="nowhere.jsonl"), 0)
