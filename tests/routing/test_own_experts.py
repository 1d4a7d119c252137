"""From an empty database: train two experts, route thirty queries between them, rate; the right one is preferred."""

import queue
import random

import pytest

from grpo_gui.events import RunStatus
from grpo_gui.snapshots.choosing import find_snapshot
from grpo_gui.tasks.making import make_task
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.headless import train_headless

SIZES = {"sort": 9, "add": 3}
STEPS = 80


@pytest.mark.learning
def test_that_experts_of_ones_own_are_trained_routed_between_and_preferred_also_after_a_restart(opened, ask):
    opened.close()
    for name, size in SIZES.items():
        config = TrainConfig(task=name, min_size=size, max_size=size, steps=STEPS, eval_steps=0)
        assert _train(config, opened.path) is RunStatus.FINISHED
    folders = {name: find_snapshot(opened.path, str(run), None)[1] for run, name in enumerate(SIZES, start=1)}
    opened.open()
    for name, folder in folders.items():
        opened.service.add_folder(f"my {name}", str(folder))
    tasks = {name: make_task(name, min_size=size, max_size=size) for name, size in SIZES.items()}
    rng = random.Random(0)
    for number in range(30):
        problem = tasks[("sort", "add")[number % 2]].sample(rng)
        decided, ended = ask(problem.prompt)
        right = {model: ended[model].text.strip() == problem.answer for model in decided.asked}
        opened.service.rate(decided.decision, {model: 5 if is_right else 1 for model, is_right in right.items()})

    assert _preferred(opened.service, tasks) == {"sort": "my sort", "add": "my add"}
    assert _preferred(opened.reopen(), tasks) == {"sort": "my sort", "add": "my add"}


def _train(config, database):
    def heard(_):
        pass

    return train_headless(config, database, commands=queue.SimpleQueue(), watch=heard, started=heard, found=heard)


def _preferred(service, tasks):
    held_out = {name: task.held_out(1)[0].prompt for name, task in tasks.items()}
    return {name: service.explain(prompt).models[0].model for name, prompt in held_out.items()}
