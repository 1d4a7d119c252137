"""What each metric means: a label, a unit, a sentence for the tooltip, and an id that changes when the meaning does."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from grpo_gui.grpo.metric_table import CLIP_ROWS, EVALUATION_ROWS, LOSS_ROWS, ROLLOUT_ROWS, RUN_ROWS
from grpo_gui.grpo.rating_table import RATING_ROWS

_NO_OPTIONS: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """One metric. Curves may be overlaid only where their `definition_id` is the same. `unit` may be empty."""

    name: str
    definition_id: str
    label: str
    unit: str
    tooltip: str


# The options of a run that change what a metric measures; they become part of its definition id.
_OPTIONS_OF: dict[str, tuple[tuple[str, str], ...]] = {
    "loss": (("loss_type", "grpo"), ("importance_sampling_level", "token")),
    "clip": (("importance_sampling_level", "token"),),
    "advantage": (
        ("multi_objective_aggregation", "sum_then_normalize"),
        ("scale_rewards", "group"),
        ("advantage_std", "sample"),
    ),
}
_FAMILY_OF = {
    "loss": "loss",
    "policy_loss": "loss",
    "cispo_clip_ratio": "clip",
    "clip_ratio": "clip",
    "ratio": "clip",
    "advantage": "advantage",
}

_CORRECTED_KL = "k3-times-ratio/"

_OWN_NAMES = frozenset({"kl/max", "policy_loss", "tokens_per_second"})
_OWN_FAMILIES = frozenset(
    {"advantage", "check", "dead_groups", "eval", "fuzz", "ratings", "ratio", "snapshot", "system", "time"}
)


def definition_of(name: str, options: Mapping[str, object] = _NO_OPTIONS) -> MetricDefinition:
    """Return the definition of a metric as a run with these `options` (fields of its config, by name) measures it.

    Options that are left out count as the defaults. Names made from a reward source, a task or a system counter
    are answered too; a name that nobody here defines gets an id that begins with `undefined/`.
    """
    definition = METRICS.get(name) or _derived(name)
    if definition is None:
        return MetricDefinition(name, f"undefined/{name}", name, "", f"{name}: recorded without a definition.")
    variant = _variant(name, options)
    tooltip = definition.tooltip
    if variant == _CORRECTED_KL:
        tooltip += " This run multiplies it by the ratio (use_bias_correction_kl)."
    return replace(definition, definition_id=f"grpo-gui/{name}/{variant}1", tooltip=tooltip)


def _variant(name: str, options: Mapping[str, object]) -> str:
    family = name.partition("/")[0]
    if family == "kl":
        return _CORRECTED_KL if options.get("use_bias_correction_kl", False) else "k3/"
    choices = _OPTIONS_OF.get(_FAMILY_OF.get(family, ""), ())
    return "".join(f"{options.get(option, default)}/" for option, default in choices)


def _derived(name: str) -> MetricDefinition | None:
    match name.split("/"):
        case ["rewards", *source, ("mean" | "std") as statistic] if source:
            return _reward_source("/".join(source), statistic)
        case ["eval", *task, ("accuracy" | "reward") as what] if task:
            return _evaluation("/".join(task), what)
        case ["fuzz", kind]:
            words = kind.replace("_", " ")
            text = f"What the reward gave at the first step, tried for nonsense against real answers: {words}."
            return _define(name, f"Reward check: {words}", "", text)
        case ["system", *counter] if counter:
            label = " ".join(counter).replace("_", " ")
            return _define(name, label.capitalize(), "", f"{label.capitalize()} of this machine while training.")
        case _:
            return None


def _reward_source(source: str, statistic: str) -> MetricDefinition:
    name = f"rewards/{source}/{statistic}"
    if statistic == "mean":
        text = (
            f"Mean of what the reward “{source}” gave, before its weight; completions without its opinion are left out."
        )
        return _define(name, source, "", text)
    text = f"How much the values of the reward “{source}” differ within a step (sample standard deviation)."
    return _define(name, f"{source} std", "", text)


def _evaluation(task: str, what: str) -> MetricDefinition:
    subject = "Share of right answers" if what == "accuracy" else "Mean reward"
    text = f"{subject} on held-out prompts of the task “{task}”, which are never trained on, sampled at temperature 1."
    return _define(f"eval/{task}/{what}", f"Held-out {what}: {task}", "", text)


def _define(name: str, label: str, unit: str, text: str) -> MetricDefinition:
    own = name in _OWN_NAMES or name.partition("/")[0] in _OWN_FAMILIES
    tooltip = f"{text} Name: {name} (not in TRL)." if own else f"{text} TRL name: {name}."
    return MetricDefinition(name, f"grpo-gui/{name}/{_variant(name, _NO_OPTIONS)}1", label, unit, tooltip)


METRICS: dict[str, MetricDefinition] = {
    row[0]: _define(*row) for row in (*LOSS_ROWS, *CLIP_ROWS, *ROLLOUT_ROWS, *EVALUATION_ROWS, *RUN_ROWS, *RATING_ROWS)
}
