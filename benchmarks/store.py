"""How fast the store is: a run of 1 M completions written, reopened, paged, searched; a frame of a 10 M-point curve.

    python benchmarks/store.py [--completions 1000000] [--keep FILE] [--json]

Everything is done through the store's own writer and readers. Cold times are those of a new process's first
query with the file in the system's cache.
"""

import argparse
import json
import random
import struct
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from grpo_gui.events import (
    CompletionSample,
    EvalCompleted,
    GroupSample,
    RunStarted,
    RunStatus,
    StepCompleted,
    TrainerStatus,
)
from grpo_gui.store.pyramid import SeriesPyramid
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import CompletionQuery, GroupRef, NewRun
from grpo_gui.store.writer import StoreWriter

P, G = 8, 8
PLOTS = ("reward", "clip_ratio/low_mean", "kl", "entropy", "loss", "grad_norm")
METRICS = (
    *PLOTS,
    *("reward_std", "rewards/exact/mean", "rewards/exact/std", "frac_reward_zero_std", "learning_rate", "policy_loss"),
    *("clip_ratio/high_mean", "clip_ratio/region_mean", "clip_ratio/low_min", "clip_ratio/high_max", "kl/max"),
    *("completions/mean_length", "completions/min_length", "completions/max_length", "completions/clipped_ratio"),
    *("advantage/mean", "advantage/std", "advantage/min", "advantage/max", "ratio/min", "ratio/max", "num_tokens"),
    *("time/rollout", "time/reward", "time/logps", "time/update", "time/store", "step_time", "tokens_per_second"),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--completions", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path, help="make the database here and keep it; an existing one is used again")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        path = options.keep or Path(folder) / "bench.db"
        if not path.exists():
            figures |= make_database(path, options.completions)
        figures["size_mb"] = path.stat().st_size / 1e6
        figures |= reopen(path) | pages(path) | searches(path)
        figures |= many_runs(Path(folder) / "runs.db")
    figures |= frame()
    for name, value in figures.items() if not options.json else ():
        print(f"{name:<44} {value:12.2f}")
    if options.json:
        print(json.dumps(figures))


def make_database(path, completions):
    writer = StoreWriter.open(path)
    run_id = writer.create_run(NewRun("one million", "compare", "{}", 0, "cpu"))
    writer.emit(RunStarted(run_id, 0, "cpu", 816_768, (("torch", "2.13.0"),)))
    writer.emit(TrainerStatus(run_id, RunStatus.RUNNING, 0))
    rng = random.Random(0)
    steps = completions // (P * G)
    written = waited = 0.0
    for first in range(1, steps + 1, 100):
        events = [make_step(rng, run_id, step) for step in range(first, min(first + 100, steps + 1))]
        start = time.perf_counter()
        for event in events:
            writer.emit(event)
        waited += time.perf_counter() - start
        writer.flush(600)
        written += time.perf_counter() - start
        writer.emit(EvalCompleted(run_id, first, 1e9, (("eval/accuracy", rng.random()), ("eval/reward", rng.random()))))
    writer.emit(TrainerStatus(run_id, RunStatus.FINISHED, steps))
    writer.close(600)
    return {"write_completions_per_s": steps * P * G / written, "emit_ms_per_step": 1e3 * waited / steps}


def make_step(rng, run_id, step):
    groups = tuple(make_group(rng, index) for index in range(P))
    metrics = tuple((name, rng.random()) for name in METRICS)
    return StepCompleted(run_id, step, 2 * step, 1e9 + step / 8, metrics, groups)


def make_group(rng, index):
    a, b = rng.randrange(100), rng.randrange(1000)
    task, prompt = rng.choice(
        (("compare", f"Which is bigger? {a}.{b} or {a}.{b % 97}?"), ("sort", f"Sort the digits {b}{a}"))
    )
    completions = tuple(make_completion(rng, i, f"{a}.{rng.randrange(1000)}") for i in range(G))
    return GroupSample(index, task, prompt, f"{a}.{b}", tuple(range(4, 4 + len(prompt))), completions)


def make_completion(rng, index, text):
    ids = (*(4 + ord(c) % 90 for c in text), 2)
    values = [-rng.random() for _ in ids]
    blob = struct.pack(f"<{len(ids)}f", *values)
    right = rng.random() < 0.5
    return CompletionSample(
        index=index,
        text=text,
        token_ids=ids,
        tokens=(*text, "<eos>"),
        truncated=rng.random() < 0.01,
        correct=right,
        reward=float(right),
        rewards=(("exact", float(right)),),
        advantage=rng.uniform(-2.4, 2.4),
        old_logps=blob,
        logps=blob,
        ref_logps=blob,
        entropy=blob,
        clipped=bytes(len(ids)),
        ratio_min=rng.random(),
        ratio_max=1 + rng.random(),
        clip_fraction_low=rng.choice((0.0, 0.0, 0.2)),
        clip_fraction_high=rng.choice((0.0, 0.0, 0.125)),
        kl_mean=rng.random(),
        kl_max=rng.random(),
    )


def timed(function, repeats=3):
    """The result, the first and the best time in milliseconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(1e3 * (time.perf_counter() - start))
    return result, times[0], min(times)


def reopen(path):
    """What the views ask for when the window opens."""
    start = time.perf_counter()
    reader = StoreReader(path)
    run = reader.runs()[0]
    marks = {"run_list": time.perf_counter()}
    for name in (*PLOTS, "rewards/exact/mean", "reward_std", "clip_ratio/high_mean", "kl/max", "eval/accuracy"):
        reader.points(run.id, name)
    marks["plot_series"] = time.perf_counter()
    reader.totals(run.id)
    reader.changes(run.id)
    marks["totals"] = time.perf_counter()
    newest = reader.newest_step(run.id)
    reader.groups_of_step(run.id, newest)
    reader.group(GroupRef(run.id, newest, 0))
    marks["newest_groups"] = time.perf_counter()
    query = CompletionQuery(run.id)
    reader.count(query)
    reader.tasks(run.id)
    reader.completion_page(query)
    reader.group_page(query)
    marks["first_pages"] = time.perf_counter()
    reader.close()
    figures, before = {}, start
    for name, mark in marks.items():
        figures[f"reopen_{name}_ms"] = 1e3 * (mark - before)
        before = mark
    figures["reopen_total_ms"] = 1e3 * (before - start)
    return figures


SORTS = ("newest", "oldest", "reward_high", "reward_low", "longest", "advantage_high", "advantage_low", "kl_high")


def pages(path):
    """The first page, the one after it and one deep inside, for every order."""
    figures = {}
    with StoreReader(path) as reader:
        run_id = reader.runs()[0].id
        for sort in (*SORTS, "clipped_high"):
            query = CompletionQuery(run_id, sort=sort)
            page, first, _ = timed(lambda query=query: reader.completion_page(query), 1)
            _, second, _ = timed(lambda query=query, page=page: reader.completion_page(query, page.cursor), 1)
            _, groups, _ = timed(lambda query=query: reader.group_page(query), 1)
            figures |= {f"page_{sort}_ms": first, f"page2_{sort}_ms": second, f"groups_{sort}_ms": groups}
    return figures


def searches(path):
    """Pages of searches and filters that find all, some, one and nothing."""
    figures = {}
    with StoreReader(path) as reader:
        run_id = reader.runs()[0].id
        asked = {
            "all": {"search": "."},
            "some": {"search": "77"},
            "prompt": {"search": "sort the digits 9"},
            "nothing": {"search": "no such text"},
            "odd": {"search": "%_'\""},
            "wrong": {"correct": False},
            "no_reward": {"min_reward": 7.0},
            "task": {"task": "sort"},
        }
        for name, fields in asked.items():
            for sort in ("newest", "kl_high", "reward_low"):
                query = CompletionQuery(run_id, sort=sort, **fields)
                _, first, _ = timed(lambda query=query: reader.completion_page(query), 2)
                figures[f"search_{name}_{sort}_ms"] = first
            _, groups, _ = timed(lambda query=query: reader.group_page(query), 1)
            _, counted, _ = timed(lambda query=query: reader.count(query), 1)
            figures |= {f"search_{name}_groups_ms": groups, f"search_{name}_count_ms": counted}
    return figures


def many_runs(path, runs=300, steps=20):
    """The history of many runs."""
    writer = StoreWriter.open(path)
    rng = random.Random(0)
    for number in range(runs):
        run_id = writer.create_run(NewRun(f"run {number}", "compare", "{}" * 500, number, "cpu"))
        for step in range(1, steps + 1):
            writer.emit(StepCompleted(run_id, step, step, 1e9, tuple((name, rng.random()) for name in METRICS), ()))
        writer.emit(TrainerStatus(run_id, RunStatus.FINISHED, steps))
    writer.close(600)
    with StoreReader(path) as reader:
        listed, first, best = timed(reader.runs)
    assert len(listed) == runs
    return {f"list_{runs}_runs_first_ms": first, f"list_{runs}_runs_ms": best}


def frame(points=10_000_000, width=1000):
    """A live frame of a long curve: one more point, and what is drawn of it."""
    pyramid = SeriesPyramid()
    values = np.cumsum(np.random.default_rng(0).normal(size=points))
    pyramid.append(np.arange(points), values)
    appends, queries = [], []
    for place in range(points, points + 300):
        start = time.perf_counter()
        pyramid.append(np.array([place]), np.array([1.0]))
        middle = time.perf_counter()
        pyramid.query(0, place, 2 * width)
        appends.append(1e3 * (middle - start))
        queries.append(1e3 * (time.perf_counter() - middle))
    frames = np.add(appends, queries)
    return {
        "pyramid_append_ms": float(np.median(appends)),
        "pyramid_query_ms": float(np.median(queries)),
        "pyramid_frame_p95_ms": float(np.percentile(frames, 95)),
    }


if __name__ == "__main__":
    sys.exit(main())
