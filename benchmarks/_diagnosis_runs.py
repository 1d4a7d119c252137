"""Real runs of our own trainer, healthy and broken on purpose, and what the diagnosis says of them."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import facts_from_config
from grpo_gui.errors import StoreError
from grpo_gui.events import RunStatus
from grpo_gui.language.loading import load_policy
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.writer import StoreWriter
from grpo_gui.tasks.making import make_task
from grpo_gui.training.diagnosing import facts_of_run, feed_stored
from grpo_gui.training.learner import Learner
from grpo_gui.training.presets import preset_config
from grpo_gui.training.samples import group_samples
from grpo_gui.training.validation import config_to_json

TASKS = ("compare", "sort", "add", "reverse")
HEALTHY_SEEDS = range(10)
BROKEN_SEEDS = range(3)
HEALTHY_STEPS = 120
BROKEN_STEPS = 60

_CONSTANT = 'rewards=[{"name":"always","kind":"regex","weight":1.0,"argument":".*"}]'


class RealRun(NamedTuple):
    """One run to train: a name for its file, the arguments of `grpo-gui train`, and what names its trouble rightly."""

    name: str
    arguments: tuple[str, ...]
    right: frozenset[str]


class Verdict(NamedTuple):
    """What was said of a run: findings that are no symptoms, with the step they were said at."""

    run: RealRun
    steps: int
    said: tuple[tuple[int, str], ...]
    mastered_since: int | None
    microseconds: float  # processor time of the diagnosis a step


def healthy_runs() -> Iterator[RealRun]:
    """Four tasks, ten seeds, the default preset."""
    for seed in HEALTHY_SEEDS:
        for task in TASKS:
            yield RealRun(f"healthy-{task}-{seed}", ("--task", task, "--seed", str(seed)), frozenset())


def broken_runs() -> Iterator[RealRun]:
    """Six ways to break a run by its settings, three seeds each; the trouble is there from the first step on."""
    kinds: tuple[tuple[str, tuple[str, ...], set[str]], ...] = (
        (
            "lr-10x",
            ("--task", "sort", "--set", "learning_rate=3e-3"),
            {"kl_runaway", "reward_falls", "clip_saturation"},
        ),
        ("length-pays", ("--preset", "lesson-hackable-reward"), {"length_pays", "reward_fuzz"}),
        ("g2-hard", ("--preset", "sort-10", "--set", "num_generations=2"), {"dead_groups"}),
        ("truncated", ("--task", "sort", "--set", "max_completion_length=3"), {"truncation"}),
        ("constant", ("--task", "sort", "--set", _CONSTANT), {"constant_reward"}),
        ("cold", ("--task", "sort", "--set", "temperature=0.2"), {"copies"}),
    )
    for seed in BROKEN_SEEDS:
        for name, arguments, right in kinds:
            steps = ("--steps", str(BROKEN_STEPS), "--seed", str(seed))
            yield RealRun(f"broken-{name}-{seed}", (*arguments, *steps), frozenset(right))


def train_missing(runs: list[RealRun], folder: Path) -> None:
    """Train the runs that `folder` does not hold yet, one after the other; may be broken off and called again."""
    folder.mkdir(parents=True, exist_ok=True)
    for run in runs:
        path = database(folder, run)
        if is_finished(path):
            continue
        for rest in folder.glob(f"{run.name}.db*"):
            rest.unlink()
        command = [sys.executable, "-m", "grpo_gui.cli", "train", "--db", str(path), "--json", *run.arguments]
        print(f"training {run.name}", flush=True)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def database(folder: Path, run: RealRun) -> Path:
    """Where a run is kept."""
    return folder / f"{run.name}.db"


def is_finished(path: Path) -> bool:
    """Whether the database holds a finished run."""
    if not path.exists():
        return False
    try:
        StoreWriter.open(path).close()  # brings a database of an older version up to date
        with StoreReader(path) as reader:
            return any(run.status is RunStatus.FINISHED for run in reader.runs())
    except StoreError:
        return False


def judge(run: RealRun, folder: Path) -> Verdict:
    """Feed a stored run to the diagnosis step by step, as a live window would."""
    path = database(folder, run)
    StoreWriter.open(path).close()  # brings a database of an older version up to date
    with StoreReader(path) as reader:
        record = reader.runs()[0]
        rows = list(reader.diagnosis_steps(record.id))
    diagnosis = Diagnosis(facts_of_run(record))
    said: dict[str, int] = {}
    mastered = None
    started = time.process_time()
    for row in rows:
        for finding in feed_stored(diagnosis, row):
            if finding.is_finding:
                said.setdefault(finding.detector, row.step)
        mastered = mastered or diagnosis.mastered_since
    spent = time.process_time() - started
    found = tuple(sorted((step, name) for name, step in said.items()))
    return Verdict(run, record.steps_done, found, mastered, 1e6 * spent / max(record.steps_done, 1))


class Overhead(NamedTuple):
    """Processor time of a step and of its diagnosis, in milliseconds."""

    step_ms: float
    diagnosis_ms: float


def measure_overhead(steps: int = 30) -> Overhead:
    """Train and diagnose some default steps in this process; processor time, so that a busy machine does not count."""
    import torch

    torch.set_num_threads(1)
    config = replace(preset_config("default"), steps=steps + 5, eval_steps=0, device="cpu")
    task = make_task(config.task)
    learner = Learner(config, load_policy(config.model, torch.device("cpu")), task)
    diagnosis = Diagnosis(facts_from_config(json.loads(config_to_json(config))))
    spent = [0.0, 0.0]
    for number in range(1, steps + 6):
        begun = time.process_time()
        finished = learner.do_step(lambda: None)
        groups = group_samples(finished.rollout, finished.last_update, learner.policy.tokenizer, learner.scorer.sources)
        trained = time.process_time()
        diagnosis.feed_step(number, finished.metrics, groups)
        if number > 5:  # the first steps warm up
            spent[0] += trained - begun
            spent[1] += time.process_time() - trained
    return Overhead(1e3 * spent[0] / steps, 1e3 * spent[1] / steps)
