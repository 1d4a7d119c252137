"""What each metric means: a label, a unit, a sentence for the tooltip, and an id that changes when the meaning does."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

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


def definition_of(name: str, options: Mapping[str, object] = _NO_OPTIONS) -> MetricDefinition:
    """Return the definition of a metric as a run with these `options` (fields of its config, by name) measures it.

    Options that are left out count as the defaults. Names made from a reward source, a task or a system counter
    are answered too; a name that nobody here defines gets an id that begins with `undefined/`.
    """
    definition = METRICS.get(name) or _derived(name)
    if definition is None:
        return MetricDefinition(name, f"undefined/{name}", name, "", f"{name}: recorded without a definition.")
    variant = _variant(name, options)
    return replace(definition, definition_id=f"grpo-gui/{name}/{variant}1") if variant else definition


def _variant(name: str, options: Mapping[str, object]) -> str:
    family = name.partition("/")[0]
    if family == "kl":
        return "k3-times-ratio/" if options.get("use_bias_correction_kl", False) else "k3/"
    choices = _OPTIONS_OF.get(_FAMILY_OF.get(family, ""), ())
    return "".join(f"{options.get(option, default)}/" for option, default in choices)


def _derived(name: str) -> MetricDefinition | None:
    match name.split("/"):
        case ["rewards", *source, ("mean" | "std") as statistic] if source:
            return _reward_source("/".join(source), statistic)
        case ["eval", *task, ("accuracy" | "reward") as what] if task:
            return _evaluation("/".join(task), what)
        case ["system", *counter] if counter:
            label = " ".join(counter).replace("_", " ")
            return _define(name, label.capitalize(), "", f"{label.capitalize()} of this machine while training.")
        case _:
            return None


def _reward_source(source: str, statistic: str) -> MetricDefinition:
    name = f"rewards/{source}/{statistic}"
    if statistic == "mean":
        text = f"Mean of what the reward source “{source}” gave, before its weight; completions it had no opinion on"
        return _define(name, source, "", f"{text} are left out.")
    text = f"How much the values of the reward source “{source}” differ within a step (sample standard deviation)."
    return _define(name, f"{source} std", "", text)


def _evaluation(task: str, what: str) -> MetricDefinition:
    text = f"{METRICS[f'eval/{what}'].tooltip.partition('TRL')[0].strip()} Only the problems of the task “{task}”."
    return _define(f"eval/{task}/{what}", f"Held-out {what}: {task}", "", text)


def _define(name: str, label: str, unit: str, text: str) -> MetricDefinition:
    variant = _variant(name, _NO_OPTIONS)
    return MetricDefinition(name, f"grpo-gui/{name}/{variant}1", label, unit, text)


def _table(*rows: tuple[str, str, str, str]) -> dict[str, MetricDefinition]:
    return {row[0]: _define(*row) for row in rows}


_LOSS = _table(
    (
        "loss",
        "Loss",
        "",
        "What the optimizer makes smaller: policy_loss + beta × kl. It is not a measure of success: on a first inner "
        "update it is near 0 whatever the model can do.",
    ),
    (
        "policy_loss",
        "Policy loss",
        "",
        "The loss without the KL penalty: −min(ratio × A, clip(ratio, 1 − epsilon, 1 + epsilon_high) × A), averaged "
        "as loss_type says, where A is the advantage.",
    ),
    (
        "kl",
        "KL (mean)",
        "nats",
        "How far the model has moved from the reference it started from, averaged over tokens. K3 estimate: "
        "exp(d) − d − 1 with d = ref_logps − logps; 0 means no change.",
    ),
    (
        "kl/max",
        "KL (max)",
        "nats",
        "The largest K3 value of a single token in the step. One spike happens in healthy runs; a level that "
        "keeps rising does not.",
    ),
    (
        "entropy",
        "Entropy",
        "nats",
        "How undecided the model is about the next token, averaged over tokens: −Σ p log p at the sampling "
        "temperature. "
        "Near 0 all completions of a group come out the same and nothing is left to compare.",
    ),
    (
        "ratio/min",
        "Ratio (min)",
        "",
        "The smallest importance ratio exp(logps − old_logps) in the step: how much less likely a token has become "
        "since it was sampled. 1 means unchanged.",
    ),
    (
        "ratio/max",
        "Ratio (max)",
        "",
        "The largest importance ratio exp(logps − old_logps) in the step: how much more likely a token has become "
        "since it was sampled. 1 means unchanged.",
    ),
)
_BY_CONSTRUCTION = " With one inner update per rollout (num_iterations 1) it is 0 by construction."
_CLIP = _table(
    (
        "clip_ratio/low_mean",
        "Clipped low",
        "",
        "Share of tokens with a negative advantage whose ratio fell below 1 − epsilon, so that they no longer "
        "push the model." + _BY_CONSTRUCTION,
    ),
    (
        "clip_ratio/high_mean",
        "Clipped high",
        "",
        "Share of tokens with a positive advantage whose ratio rose above 1 + epsilon_high, so that they no longer "
        "push the model." + _BY_CONSTRUCTION,
    ),
    (
        "clip_ratio/region_mean",
        "Clipped",
        "",
        "Share of tokens where clipping changed the objective: clipped low or clipped high." + _BY_CONSTRUCTION,
    ),
    (
        "clip_ratio/low_min",
        "Clipped low (min)",
        "",
        "The share of its tokens that were clipped low, in the completion where that share is smallest.",
    ),
    (
        "clip_ratio/high_max",
        "Clipped high (max)",
        "",
        "The share of its tokens that were clipped high, in the completion where that share is largest.",
    ),
    (
        "cispo_clip_ratio",
        "Capped",
        "",
        "Share of tokens with a positive advantage whose ratio rose above the cap epsilon_high (loss_type cispo); they "
        "still push the model, with the capped weight." + _BY_CONSTRUCTION,
    ),
)
_ROLLOUT = _table(
    (
        "reward",
        "Reward",
        "",
        "Mean reward of the step's completions: the weighted sum of all reward sources that had an opinion.",
    ),
    (
        "reward_std",
        "Reward std",
        "",
        "How much the rewards differ over all completions of the step (sample standard deviation of the batch).",
    ),
    (
        "frac_reward_zero_std",
        "Dead groups",
        "",
        "Share of groups whose completions all got the same reward. All their advantages are 0, so they teach nothing.",
    ),
    (
        "dead_groups/all_right",
        "Dead groups: all right",
        "",
        "Share of groups without signal in which every completion is right: these prompts are learned.",
    ),
    (
        "dead_groups/all_wrong",
        "Dead groups: all wrong",
        "",
        "Share of groups without signal in which every completion is wrong: these prompts are too hard for now.",
    ),
    (
        "dead_groups/other",
        "Dead groups: other",
        "",
        "Share of groups without signal for another reason: equal rewards though not all are right or all wrong, or "
        "a prompt that has no answer.",
    ),
    (
        "advantage/mean",
        "Advantage (mean)",
        "",
        "Mean advantage over the step's completions. Advantages are centred in their group, so it stays at 0.",
    ),
    (
        "advantage/std",
        "Advantage (std)",
        "",
        "How much the advantages differ over the step's completions (sample standard deviation). It falls towards 0 as "
        "groups die out.",
    ),
    (
        "advantage/min",
        "Advantage (min)",
        "",
        "The smallest advantage of the step: (reward − group mean) / (group std + eps) of the completion that did "
        "worst against its group.",
    ),
    (
        "advantage/max",
        "Advantage (max)",
        "",
        "The largest advantage of the step: (reward − group mean) / (group std + eps) of the completion that did best "
        "against its group.",
    ),
    (
        "completions/mean_length",
        "Length (mean)",
        "tokens",
        "Mean number of tokens of a completion, its end token included.",
    ),
    (
        "completions/min_length",
        "Length (min)",
        "tokens",
        "Tokens of the shortest completion of the step, its end token included.",
    ),
    (
        "completions/max_length",
        "Length (max)",
        "tokens",
        "Tokens of the longest completion of the step, its end token included.",
    ),
    (
        "completions/clipped_ratio",
        "Truncated",
        "",
        "Share of completions that reached max_completion_length without an end token. It has nothing to do with the "
        "clipping of ratios.",
    ),
    (
        "completions/mean_terminated_length",
        "Length (terminated)",
        "tokens",
        "Mean number of tokens of the completions that ended by themselves; empty when none did.",
    ),
)
_EVALUATION = _table(
    (
        "eval/reward",
        "Held-out reward",
        "",
        "Mean reward on held-out prompts, which are never trained on, sampled at temperature 1.",
    ),
    (
        "eval/accuracy",
        "Held-out accuracy",
        "",
        "Share of right answers on held-out prompts, which are never trained on, sampled at temperature 1.",
    ),
)
_RUN = _table(
    (
        "grad_norm",
        "Gradient norm",
        "",
        "Length of the gradient before it is cut to max_grad_norm: √Σ g² over all parameters, averaged over the step's "
        "optimizer updates.",
    ),
    (
        "learning_rate",
        "Learning rate",
        "",
        "How large the optimizer's steps are: the configured rate times the schedule's factor for this step.",
    ),
    (
        "num_tokens",
        "Tokens",
        "tokens",
        "Tokens processed since the run began: those of the prompts and of the completions.",
    ),
    (
        "tokens_per_second",
        "Speed",
        "tokens/s",
        "Completion tokens of the step divided by the time of the whole step, training included.",
    ),
    ("step_time", "Step time", "s", "Time of the whole step: rollout, rewards, all inner updates and handing over."),
    ("time/rollout", "Time: rollout", "s", "Time spent sampling the completions."),
    ("time/reward", "Time: reward", "s", "Time spent in the reward functions."),
    ("time/logps", "Time: log-probs", "s", "Time spent on the log-probabilities of the reference model."),
    ("time/update", "Time: update", "s", "Time spent on the inner updates: forward, backward and optimizer."),
    ("time/store", "Time: store", "s", "Time spent handing the step over to the database, waiting for it included."),
)


METRICS: dict[str, MetricDefinition] = {
    name: replace(definition, tooltip=f"{definition.tooltip} TRL name: {name}.")
    for name, definition in (_LOSS | _CLIP | _ROLLOUT | _EVALUATION | _RUN).items()
}
