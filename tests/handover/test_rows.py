import json
from dataclasses import replace

import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.handover.reward_sources import RewardSource
from grpo_gui.handover.rows import PROBLEM, drawn_rows, problem_of, row_of, text_of
from grpo_gui.tasks.problem import Problem
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.training.run_task import task_of

CONFIG = TrainConfig()
CHAT = Problem("file", "shown", "4", {"level": 2}, (("user", "2+2?"),), answer_is_last_number=True)


def test_that_the_same_seed_gives_every_process_the_same_rows():
    task = task_of(CONFIG)
    first, second = (drawn_rows(CONFIG, task, 20, has_template=False, suffix="\n") for _ in range(2))
    assert first == second
    assert first != drawn_rows(replace(CONFIG, seed=1), task, 20, has_template=False, suffix="\n")
    assert all(row["prompt"].endswith("\n") for row in first)


def test_that_no_held_out_problem_is_trained_on():
    task = task_of(CONFIG)
    held_out = {problem.prompt for problem in task.held_out(50)}
    assert not held_out & {problem_of(row[PROBLEM]).prompt for row in drawn_rows(CONFIG, task, 300, has_template=False)}


def test_that_a_problem_comes_back_as_it_was():
    assert problem_of(row_of(CHAT, CONFIG, has_template=True)[PROBLEM]) == CHAT


def test_that_a_model_with_a_chat_template_gets_messages():
    config = replace(CONFIG, system_prompt="Be short.")
    row = row_of(Problem("x", "Hello", None), config, has_template=True)
    assert row["prompt"] == [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hello"}]
    assert row["answer"] is None


def test_that_a_model_without_one_gets_text_with_its_suffix():
    config = replace(CONFIG, system_prompt="Be short.")
    problem = Problem("x", "Hello", "a")
    assert row_of(problem, config, has_template=False, suffix="\n")["prompt"] == "Be short.\n\nHello\n"
    assert row_of(problem, replace(CONFIG, chat_template=False), has_template=True)["prompt"] == "Hello"


def test_that_chats_need_a_chat_template():
    with pytest.raises(BadInputError, match="no chat template"):
        row_of(CHAT, CONFIG, has_template=False)


def test_that_a_completion_of_a_chat_is_read_as_text():
    assert text_of([{"role": "assistant", "content": "so "}, {"role": "assistant", "content": "4"}]) == "so 4"
    assert text_of("4") == "4"


def test_that_a_reward_source_scores_as_the_trainer_does_and_has_its_name():
    reward = RewardSource(RewardSpec("right answer", "exact"))
    problems = [
        json.dumps(json.loads(row_of(one, CONFIG, has_template=False)[PROBLEM]))
        for one in (Problem("x", "p", "4"), Problem("x", "p", "5"), Problem("x", "p", None))
    ]
    values = reward(["p\n"] * 3, ["4", [{"role": "assistant", "content": "4"}], "4"], [[1]] * 3, **{PROBLEM: problems})
    assert values == [1.0, 0.0, None]
    assert reward.__name__ == "right answer"


def test_that_a_confirmed_file_of_the_user_is_a_source(tmp_path, monkeypatch):
    from grpo_gui.tasks import reward_file

    monkeypatch.setattr(reward_file, "confirmed_files_file", lambda: tmp_path / "confirmed.json")
    path = tmp_path / "mine.py"
    path.write_text(
        "def longer(prompts, completions, **columns):\n    return [len(text) / 10 for text in completions]\n"
    )
    reward_file.confirm(path)
    reward = RewardSource(RewardSpec("longer", "python", 1.0, f"{path}::longer"))
    problem = row_of(Problem("x", "p", None), CONFIG, has_template=False)[PROBLEM]
    try:
        assert reward(["p"], ["12345"], [[1]], **{PROBLEM: [problem]}) == [0.5]
    finally:
        reward.close()
