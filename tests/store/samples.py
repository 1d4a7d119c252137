"""Events for the tests of the store."""

import math
import random
import struct

from grpo_gui.events import CompletionSample, GroupSample, StepCompleted
from grpo_gui.store.records import NewRun


def new_run(name="a run", **fields):
    return NewRun(
        **{"name": name, "task": "compare", "config": '{"task": "compare"}', "seed": 7, "device": "cpu", **fields}
    )


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def completion(index, text="9.9", *, rng=None, **fields):
    rng = rng or random.Random(index)
    ids = (*(4 + ord(c) % 90 for c in text), 2)
    tokens = (*text, "<eos>")
    values = [-rng.random() for _ in ids]
    right = rng.random() < 0.5
    defaults = {
        "index": index,
        "text": text,
        "token_ids": ids,
        "tokens": tokens,
        "truncated": False,
        "correct": right,
        "reward": float(right),
        "rewards": (("exact", float(right)),),
        "advantage": 1.0 if right else -1.0,
        "old_logps": floats(values),
        "logps": floats(values),
        "ref_logps": floats(values),
        "entropy": floats([-v for v in values]),
        "clipped": bytes(len(ids)),
        "ratio_min": 0.9,
        "ratio_max": 1.1,
        "clip_fraction_low": 0.0,
        "clip_fraction_high": rng.choice([0.0, 0.25]),
        "kl_mean": 0.01,
        "kl_max": rng.random(),
    }
    return CompletionSample(**{**defaults, **fields})


def group(index, *, size=4, seed=0, prompt=None, **fields):
    rng = random.Random(seed * 1000 + index)
    number = rng.randrange(100)
    defaults = {
        "index": index,
        "task": "compare",
        "prompt": prompt or f"Which is bigger? {number}.9 or {number}.11?",
        "answer": f"{number}.9",
        "prompt_token_ids": (1, 5, 6, number),
        "completions": tuple(completion(i, str(rng.randrange(1000)), rng=rng) for i in range(size)),
    }
    return GroupSample(**{**defaults, **fields})


def step(run_id, number, *, groups=None, metrics=None, prompts=2, size=4):
    return StepCompleted(
        run_id=run_id,
        step=number,
        optimizer_step=2 * number,
        time_s=1e9 + number,
        metrics=metrics if metrics is not None else (("reward", number / 100), ("kl", math.exp(-number))),
        groups=groups if groups is not None else tuple(group(i, seed=number, size=size) for i in range(prompts)),
    )
