import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.tasks import Problem, make_task
from grpo_gui.training.demonstrations import (
    CORRUPTIONS,
    corrupted,
    demonstrate,
    double,
    drop,
    echo,
    forgotten_carry,
    off_by_a_power,
    other_operand,
    swap,
)

TASKS = st.sampled_from(sorted(CORRUPTIONS))


class FirstChoice(random.Random):
    """Takes the first of everything."""

    def choice(self, options):
        return options[0]

    def randrange(self, stop):
        return 0

    def random(self):
        return 0.0


@given(TASKS, st.integers(0, 2**32))
def test_that_a_corrupted_answer_is_never_right(name, seed):
    rng = random.Random(seed)
    problem = make_task(name).sample(rng)
    assert corrupted(problem, rng) != problem.answer


@pytest.mark.parametrize(
    "problem",
    [
        Problem("sort", "Sort the digits: 111", "111"),
        Problem("reverse", "Reverse: aba", "aba"),
        Problem("reverse", "Reverse: aaa", "aaa"),
        Problem("add", "What is 0 + 0?", "0"),
        Problem("compare", "Which is bigger? 1.5 or 1.25?", "1.5"),
    ],
)
@pytest.mark.parametrize("seed", range(20))
def test_that_even_a_symmetrical_answer_gets_corrupted(problem, seed):
    assert corrupted(problem, random.Random(seed)) != problem.answer


@pytest.mark.parametrize(
    ("corruption", "problem", "text"),
    [
        (other_operand, Problem("compare", "Which is bigger? 9.11 or 9.9?", "9.9"), "9.11"),
        (other_operand, Problem("compare", "Which is bigger? 9.9 or 9.11?", "9.9"), "9.11"),
        (forgotten_carry, Problem("add", "What is 58 + 67?", "125"), "15"),
        (forgotten_carry, Problem("add", "What is 5 + 123?", "128"), "128"),
        (forgotten_carry, Problem("add", "What is 95 + 5?", "100"), "90"),
        (off_by_a_power, Problem("add", "What is 20 + 3?", "23"), "22"),
        (off_by_a_power, Problem("add", "What is 0 + 0?", "0"), "1"),
        (swap, Problem("sort", "Sort the digits: 312", "123"), "213"),
        (drop, Problem("sort", "Sort the digits: 312", "123"), "23"),
        (double, Problem("sort", "Sort the digits: 312", "123"), "1123"),
        (echo, Problem("sort", "Sort the digits: 312", "123"), "312"),
        (echo, Problem("reverse", "Reverse: abc", "cba"), "abc"),
    ],
)
def test_that_each_corruption_makes_the_mistake_it_is_named_for(corruption, problem, text):
    assert corruption(problem, FirstChoice()) == text


@given(TASKS, st.integers(0, 2**32))
def test_that_without_noise_the_answer_is_right_and_with_full_noise_wrong(name, seed):
    task = make_task(name)
    problem = task.sample(random.Random(seed))
    assert demonstrate(task, random.Random(seed), 0.0).text == problem.answer
    assert demonstrate(task, random.Random(seed), 1.0).prompt == problem.prompt
    assert demonstrate(task, random.Random(seed), 1.0).text != problem.answer


def test_that_noise_is_the_share_of_wrong_answers():
    task, rng = make_task("sort"), random.Random(0)
    shown = [demonstrate(task, rng, 0.4) for _ in range(2000)]
    right = sum("".join(sorted(one.prompt.rpartition(" ")[2])) == one.text for one in shown)
    assert 0.56 < right / 2000 < 0.64
