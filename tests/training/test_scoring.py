import math
from contextlib import closing

import numpy as np
import pytest

from grpo_gui.errors import TrainingError
from grpo_gui.tasks.problem import Problem
from grpo_gui.tasks.reward_file import confirm
from grpo_gui.training.config import RewardSpec
from grpo_gui.training.scoring import Scorer

PROBLEMS = [Problem("file", "1+1", "2", {"level": "easy"}), Problem("file", "say hi", None)]


def test_that_each_source_has_its_column_and_no_opinion_is_nan():
    scorer = Scorer([RewardSpec("right", "exact", 2.0), RewardSpec("digit", "regex", -0.5, r"\d")])
    rewards_BF = scorer.score(PROBLEMS, ["2", "3"], [[5], [6]])
    np.testing.assert_array_equal(rewards_BF, [[1, 1], [math.nan, 1]])
    np.testing.assert_array_equal(scorer.total(rewards_BF), [1.5, -0.5])
    assert scorer.sources == ("right", "digit")


def test_that_a_completion_without_any_opinion_has_no_total():
    scorer = Scorer([RewardSpec("right", "exact")])
    assert math.isnan(scorer.total(scorer.score(PROBLEMS, ["2", "3"], [[5], [6]]))[1])


def replaced(values: list[float | None]) -> Scorer:
    """A scorer whose one source returns these values, and keeps the columns it was given."""
    scorer = Scorer([RewardSpec("own", "exact")])
    scorer.seen = {}

    def function(prompts, completions, **columns):
        scorer.seen = columns
        return values

    scorer._functions = [function]
    return scorer


def test_that_an_infinite_reward_names_source_prompt_and_completion():
    with pytest.raises(TrainingError, match=r"'own' is infinite .*'b'.*'say hi'"):
        replaced([1.0, math.inf]).score(PROBLEMS, ["a", "b"], [[1], [2]])


def test_that_a_wrong_number_of_rewards_is_refused():
    with pytest.raises(TrainingError, match="1 values for 2 completions"):
        replaced([1.0]).score(PROBLEMS, ["a", "b"], [[1], [2]])


def test_that_further_columns_reach_the_reward_functions():
    scorer = replaced([1.0, None])
    scorer.score(PROBLEMS, ["a", "b"], [[1], [2]])
    assert scorer.seen["level"] == ["easy", None]
    assert scorer.seen["answer"] == ["2", None]


def test_that_functions_of_the_user_get_chats_as_messages_and_texts_as_text(tmp_path, monkeypatch):
    monkeypatch.setattr("grpo_gui.tasks.reward_file.confirmed_files_file", lambda: tmp_path / "confirmed.json")
    file = tmp_path / "mine.py"
    file.write_text(
        "def seen(prompts, completions):\n"
        "    chat = completions[0] == [{'role': 'assistant', 'content': 'a'}] and prompts[0][0]['role'] == 'user'\n"
        "    return [float(chat), float(completions[1] == 'b' and prompts[1] == 'text')]\n"
    )
    confirm(file)
    problems = [Problem("file", "hi", None, {}, (("user", "hi"),)), Problem("file", "text", None)]
    with closing(Scorer([RewardSpec("seen", "python", 1.0, f"{file}::seen")])) as scorer:
        assert scorer.score(problems, ["a", "b"], [[1], [2]]).tolist() == [[1.0], [1.0]]
