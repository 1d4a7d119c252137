"""How well and how fast the router learns, on streams of real rewards, beside plain bandits.

    python -m benchmarks.router [FOLDER] [--seeds 0 1 2 3 4] [--workers 2] [--json]

FOLDER holds `llmrouter9.csv` (ulab-uiuc/LLMRouter, MIT) and `routellm_mmlu.csv` (lm-sys/RouteLLM, Apache-2.0); without
it only the speed is measured. Prints the tables of docs/router.md. The settings are the program's defaults: they were
chosen on seeds from 100 on and are the same on every stream.
"""

import argparse
import csv
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from grpo_gui.router.baselines import BASELINES
from grpo_gui.router.context import RoutingContext, context_from_text, derive_query_class
from grpo_gui.router.evaluation import (
    BUDGETS,
    Figure,
    baseline_accuracy,
    baseline_stream,
    router_accuracy,
    router_stream,
)
from grpo_gui.router.policy import RouterPolicy
from grpo_gui.router.routing_data import FIELD_LIMIT, RoutingData

STREAMS = {  # file, column of the class, columns that are no models
    "llmrouter9": ("llmrouter9.csv", "task", {"task", "in_train", "prompt"}),
    "mmlu": ("routellm_mmlu.csv", "subject", {"subject", "row", "contaminated", "prompt"}),
}
NO_LABEL_RATINGS = 4000
# What the issue asks for at least, and the best single baseline known beforehand: (stream, figure): (least, best).
TARGETS = {
    ("llmrouter9", "regret"): (320, 217),
    ("mmlu", "regret"): (150, 67),
    ("llmrouter9", "after the drift"): (0.58, 0.593),
    ("mmlu", "after the drift"): (0.77, 0.773),
    ("llmrouter9", "held-out after 200"): (0.58, 0.606),
    ("llmrouter9", "held-out after 1000"): (0.625, 0.634),
    ("llmrouter9", "held-out after 4000"): (0.65, 0.659),
    ("llmrouter9", "no label, network, 4000"): (0.62, 0.6514),
}


def main() -> int:
    """Print the tables; the exit code is 1 when a figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="with llmrouter9.csv and routellm_mmlu.csv")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--workers", type=int, default=2, help="processes; 1 for timings that can be trusted")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report: dict[str, object] = {"speed": speed()}
    if options.folder is None or not (options.folder / STREAMS["llmrouter9"][0]).exists():
        print("Skipped the streams: no folder with llmrouter9.csv and routellm_mmlu.csv was given.", file=sys.stderr)
    else:
        report["figures"] = figures(options.folder, options.seeds, options.workers)
    if options.json:
        print(json.dumps(report, indent=1))
    else:
        print_report(report)
    return int(any(row["missed"] for row in report.get("figures", [])))


def speed() -> dict[str, float]:
    """Medians in microseconds, with nine models."""
    models = [f"model {i}" for i in range(9)]
    policy, context, generator = RouterPolicy(), context_from_text("solve 1 + 1"), random.Random(0)
    for _ in range(100):
        made = policy.propose(context, models)
        policy.rate(made.decision, {model: generator.random() for model in made.asked})

    def fresh() -> None:
        policy._cumulative.clear()
        policy.route(context, models)

    def rate() -> None:
        policy.rate(made.decision, {model: generator.random() for model in made.asked})

    times: dict[str, float] = {
        "route, weights just changed": median_us(fresh),
        "route, weights as before": median_us(lambda: policy.route(context, models)),
        "propose 4 of 9": median_us(lambda: policy.propose(context, models)),
    }
    rates = []
    for _ in range(200):
        made = policy.propose(context, models)
        rates.append(median_us(rate, 1))
    return times | {"learn a group of 4": statistics.median(rates)}


def median_us(function: Callable[[], object], repeats: int = 1000) -> float:
    """The median time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def figures(folder: Path, seeds: Sequence[int], workers: int) -> list[dict[str, object]]:
    """One row per stream and figure: the router, and the baselines where they have it."""
    jobs = [(folder, stream, seed) for stream in STREAMS for seed in seeds]
    with ProcessPoolExecutor(workers) as pool:
        results = list(pool.map(one_seed, jobs))
    rows = []
    for stream in STREAMS:
        mine = [result for (_, name, _), result in zip(jobs, results, strict=True) if name == stream]
        for name in mine[0]:
            figure = Figure.of(result[name]["router"] for result in mine)
            least, best = TARGETS.get((stream, name), (None, None))
            lower = name == "regret"
            missed = least is not None and (figure.mean > least if lower else figure.mean < least)
            rows.append(
                {
                    "stream": stream,
                    "figure": name,
                    "mean": figure.mean,
                    "low": figure.low,
                    "high": figure.high,
                    "per_seed": figure.values,
                    "least": least,
                    "best_baseline_known": best,
                    "missed": missed,
                    "baselines": {
                        key: statistics.fmean(result[name][key] for result in mine)
                        for key in mine[0][name]
                        if key != "router"
                    },
                }
            )
    return rows


def one_seed(job: tuple[Path, str, int]) -> dict[str, dict[str, float]]:
    """All figures of one stream and seed: figure -> {"router" or baseline: value}."""
    folder, stream, seed = job
    data = read_stream(folder, stream)
    half = len(data) // 2
    start = time.process_time()
    result = {"regret": {"router": router_stream(data, seed).regret}}
    result["seconds (processor)"] = {"router": time.process_time() - start}
    result["after the drift"] = {"router": float(router_stream(data, seed, drift=True).earned[half:].mean())}
    for name in BASELINES:
        result["regret"][name] = baseline_stream(data, name, seed).regret
        result["after the drift"][name] = float(baseline_stream(data, name, seed, drift=True).earned[half:].mean())
    accuracy = router_accuracy(data, seed)
    result |= {f"held-out after {budget}": {"router": accuracy[budget]} for budget in BUDGETS}
    result["held-out after one pass"] = {"router": list(accuracy.values())[-1]} | {
        name: baseline_accuracy(data, name, seed) for name in BASELINES
    }
    if stream == "llmrouter9":
        table, network = without_label(data, seed)
        result["no label, table, 4000"] = {"router": table}
        result["no label, network, 4000"] = {"router": network}
    return result


def without_label(data: RoutingData, seed: int) -> tuple[float, float]:
    """Held-out reward of the table over the five classes of a query's text, and of the candidate network on it."""
    import torch

    from grpo_gui.router.features import HashedNgrams
    from grpo_gui.router.learner import NetworkLearner

    torch.set_num_threads(1)
    contexts = [context_from_text(query) for query in data.queries]
    columns = {model: column for column, model in enumerate(data.models)}
    order = np.random.default_rng(seed).permutation(len(data))
    held_out = order[len(data) // 2 :]
    policy = RouterPolicy(seed=seed)
    ratings = 0
    for row in order:
        made = policy.propose(contexts[row], data.models)
        policy.rate(made.decision, {model: data.qualities[row, columns[model]] for model in made.asked})
        ratings += len(made.asked)
        if ratings >= NO_LABEL_RATINGS:
            break
    learner = NetworkLearner.begin(policy)
    while learner.step() is not None:
        pass
    scorer = learner.scorer()
    assert scorer is not None  # it has made steps
    weights = np.stack([class_weights(policy, contexts[row], data.models) for row in held_out])
    offsets = scorer.offsets_of(HashedNgrams()([data.queries[row] for row in held_out]), data.models)
    return (
        float(data.qualities[held_out, weights.argmax(1)].mean()),
        float(data.qualities[held_out, (weights + offsets).argmax(1)].mean()),
    )


def class_weights(policy: RouterPolicy, context: RoutingContext, models: tuple[str, ...]) -> np.ndarray:
    return policy.state.table.row(derive_query_class(context), policy.state.arms.places(models))


def read_stream(folder: Path, stream: str) -> RoutingData:
    name, column, others = STREAMS[stream]
    csv.field_size_limit(FIELD_LIMIT)
    with (folder / name).open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row.get("contaminated") != "1"]
    models = tuple(key for key in rows[0] if key not in others)
    qualities = np.array([[float(row[model]) for model in models] for row in rows])
    zeros = np.zeros_like(qualities)
    queries, classes = tuple(row["prompt"] for row in rows), tuple(row[column] for row in rows)
    return RoutingData(queries, classes, models, qualities, zeros, zeros)


def print_report(report: dict[str, object]) -> None:
    for name, value in report["speed"].items():
        print(f"{name:<30}{value:>10.1f} µs")
    for row in report.get("figures", []):
        digits = 1 if row["mean"] > 1 else 4
        target = "" if row["least"] is None else f"  asked {row['least']}, best baseline {row['best_baseline_known']}"
        spread = "" if row["low"] is None else f" ({row['low']:.{digits}f} to {row['high']:.{digits}f})"
        print(f"{row['stream']:<11} {row['figure']:<25}{row['mean']:>9.{digits}f}{spread}{target}", end="")
        print("  MISSED" if row["missed"] else "")
        if row["baselines"]:
            print(" " * 13 + ", ".join(f"{key} {value:.{digits}f}" for key, value in row["baselines"].items()))


if __name__ == "__main__":
    raise SystemExit(main())
