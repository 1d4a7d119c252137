import random

import pytest

from grpo_gui.errors import BadInputError, MissingExtraError
from grpo_gui.tasks import is_held_out, make_task
from grpo_gui.tasks.rewards import REWARDS


def test_that_a_missing_package_is_named_with_its_command(monkeypatch):
    monkeypatch.setattr("grpo_gui.tasks.gym_task.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r'pip install "grpo-gui\[reasoning\]"'):
        make_task("file", prompt_file="reasoning_gym:leg_counting")
    assert "pip install" in (REWARDS["reasoning_gym"].check("") or "")


def test_that_problems_are_drawn_held_out_and_scored():
    pytest.importorskip("reasoning_gym", reason="needs the extra reasoning")
    task = make_task("file", prompt_file="reasoning_gym:leg_counting")
    problem = task.sample(random.Random(0))
    assert problem == task.sample(random.Random(0))
    assert problem.answer
    assert not is_held_out(problem.prompt)
    held_out = task.held_out(5)
    assert len({other.prompt for other in held_out}) == 5
    assert all(is_held_out(other.prompt) for other in held_out)
    reward = REWARDS["reasoning_gym"].make("")
    columns = {name: [value] * 2 for name, value in problem.columns.items()}
    texts, answers = [problem.answer, "nonsense"], [problem.answer] * 2
    try:
        given = reward(["p"] * 2, texts, answer=answers, completion_ids=[[1]] * 2, **columns)
    finally:
        reward.close()
    assert given[0] == 1.0
    assert given[1] < 1.0


def test_that_an_unknown_name_is_refused_with_the_known_ones():
    pytest.importorskip("reasoning_gym", reason="needs the extra reasoning")
    with pytest.raises(BadInputError, match="leg_counting"):
        make_task("file", prompt_file="reasoning_gym:chess_by_mail")
