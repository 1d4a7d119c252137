"""Runs with planted trouble, made by the generators of rldoctor and rlprobe, in the words of this project."""

import math
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rl_doctor.simulate import simulate
from rlprobe.schemas import RunManifest, SampleRecord, StepRecord
from rlprobe.storage import RunReader
from rlprobe.testing.synth import generate_run

RLPROBE_STEPS = 500
RLPROBE_ONSET = 250
RLDOCTOR_STEPS = 400

# what of ours names each pathology rightly
NAMED = {
    "kl_blowup": {"kl_runaway"},
    "entropy_collapse": {"entropy_falls"},
    "reward_hack_length": {"length_pays"},
    "clip_saturation": {"clip_saturation"},
    "degenerate_groups": {"dead_groups"},
    "grad_pathology": {"gradient_spikes", "not_finite"},  # the fixture plants spikes and NaN gradients
    "truncation_starve": {"truncation"},
    "reward_std_death": {"dead_groups"},  # the rewards lose their spread because the groups do
    "throughput_rot": {"step_time"},
    "saturated_groups": {"dead_groups"},
    "too_hard": {"dead_groups"},
    "truncation": {"truncation", "length_grows"},  # its answers grow into the limit
    "grad_spikes": {"gradient_spikes"},
    "reward_hacking": {"held_out_falls"},
    "length_hacking": {"length_pays", "length_grows"},
}
# how the peers name it, where a first alarm of theirs under another name is a false one
RIGHTLY = {"grad_spikes": {"gradient_pathology", "grad_pathology"}}

RLPROBE_TABLE = (
    "kl_blowup",
    "entropy_collapse",
    "reward_hack_length",
    "clip_saturation",
    "degenerate_groups",
    "grad_pathology",
    "truncation_starve",
    "reward_std_death",
    "throughput_rot",
)
RLDOCTOR_TABLE = (
    "kl_blowup",
    "entropy_collapse",
    "clip_saturation",
    "saturated_groups",
    "too_hard",
    "grad_spikes",
    "truncation",
    "length_hacking",
    "reward_hacking",
)

_TO_TRL = {
    "reward_mean": "reward",
    "reward_std": "reward_std",
    "kl_mean": "kl",
    "entropy_mean": "entropy",
    "clip_fraction": "clip_ratio/region_mean",
    "adv_std": "advantage/std",
    "zero_variance_group_frac": "frac_reward_zero_std",
    "loss": "loss",
    "lr": "learning_rate",
    "grad_norm": "grad_norm",
    "nan_count": "nan_count",
    "inf_count": "inf_count",
    "weight_update_ratio": "check/weights_change",
    "completion_len_mean": "completions/mean_length",
    "truncation_rate": "completions/clipped_ratio",
    "repetition_rate": "samples/repetitive",
    "step_time_s": "step_time",
}


@dataclass(frozen=True)
class Completion:
    """A recorded sample with what the diagnosis reads of one."""

    text: str
    token_ids: tuple[int, ...]
    truncated: bool
    reward: float | None
    rewards: tuple[tuple[str, float | None], ...]
    advantage: float
    correct: bool | None = None
    old_logps: bytes = b""
    logps: bytes = b""
    ref_logps: bytes = b""


@dataclass(frozen=True)
class Group:
    """The recorded samples of one prompt."""

    index: int
    prompt: str
    completions: tuple[Completion, ...]


@dataclass(frozen=True)
class Fixture:
    """One run: rows of (step, metrics by TRL's names), groups by step, and what rlprobe reads."""

    pathology: str
    seed: int
    onset: int
    config: dict[str, Any]
    rows: list[tuple[int, dict[str, float]]]
    groups: dict[int, tuple[Group, ...]] = field(default_factory=dict)
    records: list[StepRecord] = field(default_factory=list)
    samples: list[SampleRecord] = field(default_factory=list)
    manifest: RunManifest | None = None


def rlprobe_fixture(pathology: str | None, seed: int) -> Fixture:
    """A run of rlprobe's generator; the trouble begins at step 250 of 500."""
    with tempfile.TemporaryDirectory() as folder:
        reader = RunReader(generate_run(folder, pathology, n_steps=RLPROBE_STEPS, seed=seed))
        records, samples, manifest = reader.steps(), reader.samples(), reader.manifest
    rows = [(record.step, _row(record)) for record in records]
    config = {"num_generations": 8, "learning_rate": 1e-6, "partial_samples": True}
    name = pathology or "healthy"
    return Fixture(name, seed, RLPROBE_ONSET, config, rows, _groups(samples), records, samples, manifest)


def _row(record: StepRecord) -> dict[str, float]:
    values = {ours: getattr(record, theirs) for theirs, ours in _TO_TRL.items()}
    row = {name: float(value) for name, value in values.items() if value is not None}
    return row | {f"rewards/{name}/mean": value for name, value in record.reward_components.items()}


def _groups(samples: Sequence[SampleRecord]) -> dict[int, tuple[Group, ...]]:
    members: dict[int, dict[str, list[SampleRecord]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        members[sample.step][sample.group_id or ""].append(sample)
    return {
        step: tuple(
            Group(index, of_group[0].prompt_text or "", tuple(map(_completion, of_group)))
            for index, of_group in enumerate(by_group.values())
        )
        for step, by_group in members.items()
    }


def _completion(sample: SampleRecord) -> Completion:
    return Completion(
        text=sample.completion_text or "",
        token_ids=tuple(range(sample.completion_len or 0)),  # only their number was recorded
        truncated=bool(sample.truncated),
        reward=sample.reward_total,
        rewards=tuple(sample.reward_components.items()),
        advantage=sample.advantage or 0.0,
    )


def rldoctor_fixture(scenario: str, seed: int) -> Fixture:
    """A run of rldoctor's generator; the trouble grows from the first step on."""
    records, config = simulate(scenario, n_steps=RLDOCTOR_STEPS, seed=seed)
    rows = [
        (int(record["step"]), {name: float(value) for name, value in record.items() if name != "step"})
        for record in records
    ]
    trl = {name: config[name] for name in ("num_generations", "learning_rate", "beta", "epsilon", "epsilon_high")}
    manifest = RunManifest(run_id=scenario, created_at="", algorithm="grpo", trainer_config={"group_size": 8})
    return Fixture(scenario, seed, 0, trl, rows, records=[_record(step, row) for step, row in rows], manifest=manifest)


def _record(step: int, row: dict[str, float]) -> StepRecord:
    back = {theirs: row[ours] for theirs, ours in _TO_TRL.items() if ours in row and not math.isnan(row[ours])}
    parts = {name.split("/")[1]: value for name, value in row.items() if name.startswith("rewards/")}
    return StepRecord(step=step, reward_components=parts, **back)


def healthy_fixtures(count: int, first_seed: int) -> Iterator[Fixture]:
    """Healthy runs, of both generators in turn."""
    makers: tuple[Callable[[int], Fixture], ...] = (
        lambda seed: rlprobe_fixture(None, seed),
        lambda seed: rldoctor_fixture("healthy", seed),
    )
    for number in range(count):
        yield makers[number % 2](first_seed + number // 2)
