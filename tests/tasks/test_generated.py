import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_gui.errors import BadInputError
from grpo_gui.tasks import is_held_out
from grpo_gui.tasks.generated import KINDS, GeneratedTask

SEEDS = st.integers(0, 2**32)
NAMES = st.sampled_from(sorted(KINDS))


def draw(name: str, seed: int, smallest: int = 0, largest: int = 0):
    return GeneratedTask(KINDS[name], smallest, largest).sample(random.Random(seed))


def by_hand(text: str) -> Fraction:
    """The value of a decimal number, digit by digit."""
    whole, _, decimals = text.partition(".")
    return sum(
        (Fraction(int(digit), 10**place) for place, digit in enumerate(decimals, 1)),
        Fraction(int(whole)),
    )


@given(SEEDS)
def test_that_the_answer_of_compare_is_the_operand_with_the_bigger_value(seed):
    problem = draw("compare", seed)
    left, right = problem.prompt.removeprefix("Which is bigger? ").removesuffix("?").split(" or ")
    other = right if problem.answer == left else left
    assert problem.answer in (left, right)
    assert by_hand(problem.answer) > by_hand(other)


@given(SEEDS)
def test_that_the_answer_of_sort_has_the_same_digits_in_ascending_order(seed):
    problem = draw("sort", seed)
    digits = problem.prompt.removeprefix("Sort the digits: ")
    assert problem.answer == "".join(digit * digits.count(digit) for digit in "0123456789")


@given(SEEDS)
def test_that_the_answer_of_add_is_the_sum_carried_column_by_column(seed):
    problem = draw("add", seed)
    first, second = problem.prompt.removeprefix("What is ").removesuffix("?").split(" + ")
    columns, carry = [], 0
    for place in range(1, max(len(first), len(second)) + 1):
        carry, digit = divmod(
            sum("0123456789".index(text[-place]) for text in (first, second) if place <= len(text)) + carry, 10
        )
        columns.append("0123456789"[digit])
    by_columns = ("1" if carry else "") + "".join(reversed(columns))
    assert problem.answer == by_columns


@given(SEEDS)
def test_that_the_answer_of_reverse_is_the_letters_backwards(seed):
    problem = draw("reverse", seed)
    letters = problem.prompt.removeprefix("Reverse: ")
    assert [problem.answer[-1 - place] for place in range(len(letters))] == list(letters)
    assert len(problem.answer) == len(letters)


@given(NAMES, SEEDS)
def test_that_training_never_draws_a_held_out_prompt(name, seed):
    assert not is_held_out(draw(name, seed).prompt)


@given(NAMES, st.integers(0, 100))
@settings(max_examples=20)
def test_that_held_out_prompts_are_held_out_and_differ(name, seed):
    prompts = [problem.prompt for problem in GeneratedTask(KINDS[name]).held_out(32, seed)]
    assert len(set(prompts)) == 32
    assert all(is_held_out(prompt) for prompt in prompts)


@given(NAMES, SEEDS)
def test_that_the_same_seed_draws_the_same_problems(name, seed):
    assert draw(name, seed) == draw(name, seed)


def test_that_held_out_problems_repeat_and_depend_on_the_seed():
    task = GeneratedTask(KINDS["sort"])
    assert task.held_out(16) == task.held_out(16)
    assert task.held_out(16, seed=1) != task.held_out(16, seed=2)


@given(SEEDS, st.data())
def test_that_sizes_are_respected(seed, data):
    name = data.draw(st.sampled_from(("sort", "reverse")))
    smallest = data.draw(st.integers(2, 32))
    largest = data.draw(st.integers(smallest, 32))
    assert smallest <= len(draw(name, seed, smallest, largest).answer) <= largest


@given(SEEDS, st.integers(1, 16))
def test_that_the_operands_of_add_have_the_wanted_number_of_digits(seed, size):
    first, second = draw("add", seed, size, size).prompt.removeprefix("What is ").removesuffix("?").split(" + ")
    assert len(first) == len(second) == size


@given(SEEDS, st.integers(1, 8))
def test_that_the_numbers_of_compare_have_the_wanted_number_of_decimals(seed, size):
    prompt = draw("compare", seed, size, size).prompt
    numbers = prompt.removeprefix("Which is bigger? ").removesuffix("?").split(" or ")
    assert all(len(number.partition(".")[2]) == size for number in numbers)


def test_that_about_three_comparisons_in_five_share_the_integer_part():
    rng, task = random.Random(0), GeneratedTask(KINDS["compare"])
    prompts = [task.sample(rng).prompt for _ in range(2000)]
    pairs = [prompt.removeprefix("Which is bigger? ").removesuffix("?").split(" or ") for prompt in prompts]
    same = sum(left.partition(".")[0] == right.partition(".")[0] for left, right in pairs)
    assert 0.55 < same / 2000 < 0.68


def test_that_a_small_task_returns_the_held_out_prompts_it_has():
    one_digit_sums = {f"What is {first} + {second}?" for first in range(10) for second in range(10)}
    held_out = {prompt for prompt in one_digit_sums if is_held_out(prompt)}
    problems = GeneratedTask(KINDS["add"], 1, 1).held_out(64)
    assert {problem.prompt for problem in problems} == held_out


@pytest.mark.parametrize("name", sorted(KINDS))
def test_that_the_smallest_task_still_has_training_problems(name):
    smallest = KINDS[name].limits[0]
    assert draw(name, 0, smallest, smallest).answer


def test_that_one_size_alone_widens_the_range_of_the_task():
    assert (lambda task: (task.min_size, task.max_size))(GeneratedTask(KINDS["sort"], 9, 0)) == (9, 9)
    assert (lambda task: (task.min_size, task.max_size))(GeneratedTask(KINDS["sort"], 0, 2)) == (2, 2)
    assert (lambda task: (task.min_size, task.max_size))(GeneratedTask(KINDS["sort"], 4, 0)) == (4, 6)


@pytest.mark.parametrize(
    ("smallest", "largest", "sentence"),
    [
        (1, 4, "between 2 and 32; got 1 to 4"),
        (4, 33, "between 2 and 32; got 4 to 33"),
        (-1, 0, "between 2 and 32"),
        (6, 5, r"smallest size of the task sort \(6\) is above the largest \(5\)"),
    ],
)
def test_that_bad_sizes_are_refused_with_a_sentence(smallest, largest, sentence):
    with pytest.raises(BadInputError, match=sentence):
        GeneratedTask(KINDS["sort"], smallest, largest)
