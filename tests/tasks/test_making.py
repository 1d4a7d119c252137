import random
from collections import Counter

import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.tasks import held_out_shortage, make_task


def test_that_a_mix_draws_its_parts_by_weight():
    task, rng = make_task("mix", mix=(("sort", 3.0), ("add", 1.0))), random.Random(0)
    drawn = Counter(task.sample(rng).task for _ in range(1000))
    assert set(drawn) == {"sort", "add"}
    assert 700 < drawn["sort"] < 800


def test_that_a_mix_without_parts_holds_the_four_tasks():
    task, rng = make_task("mix"), random.Random(0)
    assert {task.sample(rng).task for _ in range(100)} == {"compare", "sort", "add", "reverse"}


def test_that_the_held_out_part_of_a_mix_measures_every_part_equally():
    problems = make_task("mix", mix=(("sort", 9.0), ("add", 1.0), ("reverse", 1.0))).held_out(64)
    assert Counter(problem.task for problem in problems) == {"sort": 22, "add": 21, "reverse": 21}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"task": "chess"}, "no task 'chess'; choose one of compare, sort, add, reverse, mix, file"),
        ({"task": "mix", "min_size": 3}, "Sizes belong to one of the tasks"),
        ({"task": "mix", "mix": (("chess", 1.0),)}, "not 'chess'"),
        ({"task": "mix", "mix": (("sort", 0.0),)}, "weight of sort in the mix must be above 0"),
        ({"task": "mix", "mix": (("sort", float("nan")),)}, "weight of sort in the mix must be above 0"),
        ({"task": "mix", "mix": (("sort", 1.0), ("sort", 2.0))}, "stands twice"),
        ({"task": "file"}, "needs a data file"),
    ],
)
def test_that_a_bad_task_is_refused_with_a_sentence(arguments, sentence):
    with pytest.raises(BadInputError, match=sentence):
        make_task(**arguments)


def test_that_too_few_held_out_prompts_are_said(tmp_path):
    one_row = tmp_path / "one.jsonl"
    one_row.write_text('{"prompt": "Say yes", "answer": "yes"}\n')
    assert held_out_shortage(make_task("sort"), 64) is None
    assert "only 8 held-out prompts of the 64" in held_out_shortage(make_task("add", min_size=1, max_size=1), 64)
    assert "has no held-out prompts" in held_out_shortage(make_task("file", prompt_file=str(one_row)), 64)
