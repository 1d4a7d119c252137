"""How early and how rightly the diagnosis speaks, beside rldoctor and rlprobe, and that it is silent on healthy runs.

    python -m benchmarks.diagnosis [--seeds 10 11 12 13 14] [--every 10] [--runs FOLDER [--train]]

Prints the tables of docs/diagnosis.md. `--runs` adds real runs of our own trainer from a folder; `--train` first trains
those that the folder lacks (58 runs, two minutes each; may be broken off and called again).
"""

import argparse
import importlib.util
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks._diagnosis_live import live_costs
from benchmarks._diagnosis_runs import (
    RealRun,
    broken_runs,
    healthy_runs,
    is_finished,
    judge,
    measure_overhead,
    train_missing,
)
from benchmarks._diagnosis_runs import database as run_database

PEERS = ("rl_doctor", "rlprobe")
SEEDS = (10, 11, 12, 13, 14)  # thresholds were chosen with others: 0 to 4
HEALTHY = 60
FIRST_HEALTHY_SEED = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; the exit code is 1 when a figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--every", type=int, default=10, help="steps between two checks of the peers")
    parser.add_argument("--runs", type=Path, help="folder with real runs of our own trainer")
    parser.add_argument("--train", action="store_true", help="train the runs that the folder lacks")
    options = parser.parse_args(arguments)
    missed: list[str] = []
    if all(importlib.util.find_spec(peer) for peer in PEERS):
        missed += peer_tables(options.seeds, options.every)
        missed += healthy_table()
        missed += trap_table()
    else:
        print("The two peers are not installed; `pip install rldoctor==0.2.0 rlprobe==0.1.0` adds their tables.\n")
    if options.runs is not None:
        runs = [*healthy_runs(), *broken_runs()]
        if options.train:
            train_missing(runs, options.runs)
        missed += run_tables([run for run in runs if is_finished(run_database(options.runs, run))], options.runs)
    missed += overhead_table()
    for sentence in missed:
        print(f"MISSED: {sentence}")
    return 1 if missed else 0


def peer_tables(seeds: Sequence[int], every: int) -> list[str]:
    """First alarms on the fixtures of both peers, one line a pathology; returns what was missed."""
    from benchmarks._diagnosis_fixtures import RLDOCTOR_TABLE, RLPROBE_TABLE, rldoctor_fixture, rlprobe_fixture

    missed = []
    for title, make, pathologies in (
        ("rlprobe 0.1.0's generator, 500 steps, trouble from step 250 on", rlprobe_fixture, RLPROBE_TABLE),
        ("rldoctor 0.2.0's generator, 400 steps, trouble growing from step 0 on", rldoctor_fixture, RLDOCTOR_TABLE),
    ):
        print(f"### {title}; seeds {', '.join(map(str, seeds))}; peers asked every {every} steps\n")
        print("| pathology | ours | we call it | rldoctor | rlprobe |\n|---|---|---|---|---|")
        for pathology in pathologies:
            line, problems = _pathology(make, pathology, seeds, every)
            print(line, flush=True)
            missed += problems
        print()
    return missed


def _pathology(make: Callable, pathology: str, seeds: Sequence[int], every: int) -> tuple[str, list[str]]:
    from benchmarks._diagnosis_fixtures import NAMED, RIGHTLY
    from benchmarks._diagnosis_peers import Alarm, our_first, rldoctor_first, rlprobe_first

    columns: dict[str, list[Alarm]] = {"ours": [], "rldoctor": [], "rlprobe": []}
    problems = []
    for seed in seeds:
        fixture = make(pathology, seed)
        ours, doctor, probe = our_first(fixture), rldoctor_first(fixture, every), rlprobe_first(fixture, every)
        for name, alarm in zip(columns, (ours, doctor, probe), strict=True):
            columns[name].append(alarm)
        if ours.step is None or not set(ours.names) <= NAMED[pathology]:
            problems.append(f"{pathology}, seed {seed}: first finding {ours}")
            continue
        slack = 10 if NAMED[pathology] == {"dead_groups"} else 0
        for peer, alarm in (("rldoctor", doctor), ("rlprobe", probe)):
            rightly = RIGHTLY.get(pathology)
            is_right = rightly is None or bool(rightly & set(alarm.names))
            if alarm.step is not None and is_right and ours.step > alarm.step + slack:
                problems.append(f"{pathology}, seed {seed}: ours at {ours.step}, {peer} at {alarm.step}")
    names = ", ".join(sorted({name for alarm in columns["ours"] for name in alarm.names}))
    cells = [_span(columns["ours"]), names, _span(columns["rldoctor"]), _span(columns["rlprobe"])]
    return f"| {pathology} | " + " | ".join(cells) + " |", problems


def _span(alarms: Sequence) -> str:
    """A range of steps, and how often there was no alarm."""
    steps = sorted(alarm.step for alarm in alarms if alarm.step is not None)
    if not steps:
        return "never"
    span = str(steps[0]) if steps[0] == steps[-1] else f"{steps[0]} to {steps[-1]}"
    never = len(alarms) - len(steps)
    return f"{span} (never: {never} of {len(alarms)})" if never else span


def healthy_table() -> list[str]:
    """Findings on healthy runs of both generators."""
    from benchmarks._diagnosis_fixtures import healthy_fixtures
    from benchmarks._diagnosis_peers import our_findings

    noisy = [
        f"{fixture.pathology}, seed {fixture.seed}: {sorted({finding.detector for _, finding in changes})}"
        for fixture in healthy_fixtures(HEALTHY, FIRST_HEALTHY_SEED)
        if (changes := our_findings(fixture)[1])
    ]
    print(f"Findings on {HEALTHY} healthy made-up runs (30 of each generator): {len(noisy)}\n")
    return [f"healthy run with a finding: {line}" for line in noisy]


def trap_table() -> list[str]:
    """Findings on runs that only look broken."""
    from benchmarks._diagnosis_traps import TRAPS, findings_of

    caught = [f"trap {name}: {found}" for name, trap in TRAPS.items() if (found := findings_of(trap))]
    print(f"Findings on {len(TRAPS)} traps: {len(caught)}\n")
    return caught


def run_tables(runs: Sequence[RealRun], folder: Path) -> list[str]:
    """What was said of real runs, healthy and broken."""
    verdicts = [judge(run, folder) for run in runs]
    healthy = [verdict for verdict in verdicts if not verdict.run.right]
    missed = [f"{verdict.run.name}: {verdict.said}" for verdict in healthy if verdict.said]
    solved = sum(verdict.mastered_since is not None for verdict in healthy)
    print(
        f"Findings on {len(healthy)} healthy real runs (four tasks, default preset): {len(missed)}; solved: {solved}\n"
    )
    print("| broken on purpose | runs | finding | said at step | others |\n|---|---|---|---|---|")
    broken: dict[str, list] = {}
    for verdict in verdicts:
        if verdict.run.right:
            broken.setdefault(verdict.run.name.rsplit("-", 1)[0].removeprefix("broken-"), []).append(verdict)
    for name, group in broken.items():
        right = [(step, said) for verdict in group for step, said in verdict.said[:1] if said in verdict.run.right]
        others = Counter(said for verdict in group for _, said in verdict.said if said not in verdict.run.right)
        steps = sorted(step for step, _ in right)
        titles = ", ".join(sorted({said for _, said in right})) or "none"
        when = f"{steps[0]} to {steps[-1]}" if steps else "never"
        print(f"| {name} | {len(group)} | {titles} | {when} | {', '.join(others) or 'none'} |")
        if len(right) < len(group) or others or (steps and steps[-1] > 60):
            missed.append(f"broken run {name}: {[verdict.said for verdict in group]}")
    spent = statistics.median(verdict.microseconds for verdict in verdicts) if verdicts else 0.0
    print(f"\nProcessor time of the diagnosis: {spent / 1e3:.2f} ms a step, median of {len(verdicts)} runs.\n")
    return missed


def overhead_table() -> list[str]:
    """The share of a step that the diagnosis takes."""
    overhead = measure_overhead()
    share = overhead.diagnosis_ms / overhead.step_ms
    print(
        f"Overhead: {overhead.diagnosis_ms:.2f} ms of processor time for a step of {overhead.step_ms:.0f} ms (64 "
        f"completions, default preset): {100 * share:.2f} %\n"
    )
    missed = [f"overhead of {100 * share:.2f} % of a step"] if share >= 0.01 else []
    print("| beside a run | a step without it | more with it | its own code | share |\n|---|---|---|---|---|")
    for cost in live_costs():
        share = cost.own / cost.step
        print(
            f"| {cost.where} | {cost.step:.0f} ms | {cost.more:+.1f} ± {cost.error:.1f} ms | {cost.own:.2f} ms | "
            f"{100 * share:.2f} % |"
        )
        missed += [f"overhead of {100 * share:.2f} % of a step {cost.where}"] if share >= 0.01 else []
    print()
    return missed


if __name__ == "__main__":
    sys.exit(main())
