"""Our names for the metrics of other programs, each with an id that tells whether two curves measure the same."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from grpo_gui.grpo.definitions import METRICS, definition_of

STEP_NAMES = ("step", "global_step", "_step", "Step", "iteration", "global_step/max_steps")
TIME_NAMES = ("_timestamp", "timestamp", "wall_time", "time_s")


class Named(NamedTuple):
    """Our name of a metric, and the id of what it measures."""

    name: str
    definition_id: str


NameOf = Callable[[str, Mapping[str, object]], Named]

# These depend on settings that a run without its config does not tell.
_UNSURE_FAMILIES = frozenset({"loss", "policy_loss", "clip_ratio", "cispo_clip_ratio", "ratio", "advantage", "kl"})

_VERL = {
    "critic/score/mean": "reward",
    "actor/pg_clipfrac": "clip_ratio/region_mean",
    "actor/kl_loss": "kl",
    "actor/entropy": "entropy",
    "actor/entropy_loss": "entropy",
    "actor/grad_norm": "grad_norm",
    "actor/pg_loss": "policy_loss",
    "actor/lr": "learning_rate",
    "critic/advantages/mean": "advantage/mean",
    "critic/advantages/max": "advantage/max",
    "critic/advantages/min": "advantage/min",
    "response_length/mean": "completions/mean_length",
    "response_length/max": "completions/max_length",
    "response_length/min": "completions/min_length",
    "response_length/clip_ratio": "completions/clipped_ratio",
    "timing_s/step": "step_time",
    "timing_s/gen": "time/rollout",
    "timing_s/reward": "time/reward",
    "timing_s/update_actor": "time/update",
    "perf/total_num_tokens": "num_tokens",
}
_VERL_SAME = frozenset(  # measured as we do
    {"completions/mean_length", "completions/max_length", "completions/min_length", "learning_rate", "step_time"}
)


@lru_cache(maxsize=4096)
def plain_name(raw: str) -> str:
    """TRL's name without the prefixes that loggers add: `train/` before, `eval_` before held-out metrics."""
    name = raw.removeprefix("train/")
    return f"eval/{name.removeprefix('eval_')}" if name.startswith("eval_") else name


def trl_name(raw: str, config: Mapping[str, object]) -> Named:
    """TRL's names are ours; without the run's config some ids stay TRL's own."""
    name = plain_name(raw)
    family = name.partition("/")[0]
    if family == "eval" or (family in _UNSURE_FAMILIES and "loss_type" not in config):
        return Named(name, f"trl/{name}/1")
    if name in METRICS or family in ("rewards", "completions"):
        return Named(name, definition_of(name, config).definition_id)
    return Named(name, f"trl/{name}/1")


def verl_name(raw: str, _config: Mapping[str, object]) -> Named:
    """Verl's names; `actor/pg_clipfrac_lower` is dual clip and keeps its name, as does all that is not in the table."""
    name = _VERL.get(raw)
    if name in _VERL_SAME:
        return Named(name, definition_of(name).definition_id)
    if name is None and raw.startswith(("val-core/", "val-aux/", "val/")):
        return Named(f"eval/{raw.partition('/')[2]}", f"verl/{raw}/1")
    return Named(name or raw, f"verl/{raw}/1")


def file_name(raw: str, _config: Mapping[str, object]) -> Named:
    """Names in a table of unknown origin: what they measure is not known."""
    name = plain_name(raw)
    return Named(name, f"file/{name}/1")


def is_evaluation(names: Mapping[str, float]) -> bool:
    """True for a row that holds held-out metrics only."""
    return bool(names) and all(plain_name(name).startswith("eval/") or name == "epoch" for name in names)
