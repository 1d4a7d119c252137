"""Stand-ins for the store and the trainer, and sample records and events."""

import struct
from dataclasses import replace
from pathlib import Path

from grpo_gui.events import CompletionSample, GroupSample, RunStatus, StepCompleted
from grpo_gui.store.records import RunRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.validation import config_to_json


def run_record(run_id: int = 1, **changes) -> RunRecord:
    values = {
        "id": run_id,
        "name": "compare",
        "task": "compare",
        "config": config_to_json(TrainConfig()),
        "seed": 0,
        "device": "cpu",
        "origin": "embedded",
        "status": RunStatus.FINISHED,
        "message": "",
        "program": "grpo-gui",
        "versions": (("torch", "2.13.0"),),
        "parameters": 600_000,
        "created_s": 1_700_000_000.0,
        "ended_s": 1_700_000_020.0,
        "steps_done": 3,
        "completions": 12,
        "final_metrics": (("reward", 0.9),),
        "state_path": None,
        "parent_run_id": None,
        "parent_step": None,
    }
    return RunRecord(**(values | changes))


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def completion(index: int = 0, reward: float | None = 1.0, advantage: float = 0.5, text: str = "9.9", **changes):
    values = {
        "index": index,
        "text": text,
        "token_ids": (5, 6, 1),
        "tokens": ("9.", "9", "<eos>"),
        "truncated": False,
        "correct": reward == 1.0,
        "reward": reward,
        "rewards": (("exact", reward),),
        "advantage": advantage,
        "old_logps": floats(-0.4, -0.2, -0.1),
        "logps": floats(-0.5, -0.1, -0.1),
        "ref_logps": floats(-0.4, -0.3, -0.1),
        "entropy": floats(0.9, 0.4, 0.1),
        "clipped": bytes((255, 0, 1)),
        "ratio_min": 0.9,
        "ratio_max": 1.1,
        "clip_fraction_low": 1 / 3,
        "clip_fraction_high": 1 / 3,
        "kl_mean": 0.01,
        "kl_max": 0.02,
    }
    return CompletionSample(**(values | changes))


def group(index: int = 0, rewards=(1.0, 0.0, 1.0, 0.0), prompt: str = "Which is bigger? 9.11 or 9.9?") -> GroupSample:
    mean = sum(rewards) / len(rewards)
    samples = tuple(completion(i, reward, reward - mean) for i, reward in enumerate(rewards))
    return GroupSample(index, "compare", prompt, "9.9", (0, 3, 4), samples)


def step_completed(run_id: int = 1, step: int = 1, groups=None, **metrics: float) -> StepCompleted:
    values = {"reward": 0.5, "loss": 0.01, "kl": 0.02} | metrics
    sampled = (group(0),) if groups is None else groups
    return StepCompleted(run_id, step, step * 2, 1_700_000_000.0 + step, tuple(values.items()), sampled)


class FakeReader:
    """Serves runs from a dict."""

    def __init__(self):
        self.records: dict[int, RunRecord] = {}

    def runs(self):
        return sorted(self.records.values(), key=lambda run: -run.id)

    def run(self, run_id):
        return self.records[run_id]


class FakeWriter:
    def __init__(self, reader: FakeReader):
        self._reader = reader
        self.notes: list[tuple[int, int, str]] = []

    def create_run(self, new):
        run_id = len(self._reader.records) + 1
        self._reader.records[run_id] = run_record(
            run_id,
            name=new.name,
            task=new.task,
            config=new.config,
            seed=new.seed,
            device=new.device,
            status=RunStatus.WARMING_UP,
            steps_done=0,
            completions=0,
            ended_s=None,
        )
        return run_id

    def add_note(self, run_id, step, text):
        self.notes.append((run_id, step, text))

    def rename_run(self, run_id, name):
        self._reader.records[run_id] = run_record(run_id, name=name)

    def replace_config(self, run_id, config):
        self._reader.records[run_id] = replace(self._reader.records[run_id], config=config)


class FakeHandle:
    def __init__(self, run_id: int):
        self.run_id = run_id
        self.commands: list[object] = []
        self.running = True

    def post(self, command):
        self.commands.append(command)

    def stop(self, timeout_s):
        self.running = False
        return True

    def is_running(self):
        return self.running


class FakeLauncher:
    def __init__(self):
        self.started: list[tuple[TrainConfig, int, bool]] = []
        self.snapshots: list[Path | None] = []
        self.handles: list[FakeHandle] = []
        self.background: list[int] = []
        self.attachable: dict[int, FakeHandle] = {}
        self.refusal: Exception | None = None

    def start(self, config, run_id, *, resume, snapshot=None):
        if self.refusal is not None:
            raise self.refusal
        self.started.append((config, run_id, resume))
        self.snapshots.append(snapshot)
        self.handles.append(FakeHandle(run_id))
        return self.handles[-1]

    def start_in_background(self, run_id):
        self.background.append(run_id)
        return FakeHandle(run_id)

    def attach(self, run):
        return self.attachable.get(run.id)
