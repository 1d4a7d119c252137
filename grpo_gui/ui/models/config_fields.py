"""The settings of a run as the form shows them: label, kind, group, hint and the sentence that defines each."""

from collections.abc import Iterable
from dataclasses import fields

from grpo_gui.training.config import TrainConfig
from grpo_gui.training.rules import ADVANTAGE_STDS, AGGREGATIONS, IMPORTANCE_SAMPLING_LEVELS, LOSS_TYPES, SCALE_REWARDS
from grpo_gui.ui.models.config_field_kind import ConfigField as ConfigField
from grpo_gui.ui.models.rating_config_fields import RATING_FIELDS

GROUPS = (
    ("model", "Model of your own"),
    ("task", "Task"),
    ("rewards", "Reward sources"),
    ("update", "Updates"),
    ("loss", "Loss"),
    ("advantage", "Advantages"),
    ("ratings", "Ratings by hand"),
    ("sampling", "Sampling"),
    ("evaluation", "Held-out evaluation"),
    ("snapshots", "Snapshots"),
    ("machine", "Machine"),
)


_FIELDS = (
    ConfigField(
        "seed",
        "Seed",
        "whole",
        "",
        "Where the random numbers start. Same seed, settings and machine: the same numbers.",
    ),
    ConfigField(
        "steps",
        "Steps",
        "whole",
        "",
        "How many steps the run takes. A step is one rollout with all its inner updates.",
        "1 or more",
    ),
    ConfigField(
        "prompts_per_step",
        "Prompts per step",
        "whole",
        "",
        "How many prompts are drawn for a step; each gets its own group of completions.",
    ),
    ConfigField(
        "num_generations",
        "Completions per prompt",
        "whole",
        "",
        "The size G of a group: how many completions are sampled for each prompt and judged against each other.",
        "2 or more",
    ),
    ConfigField(
        "lora_rank",
        "LoRA rank",
        "whole",
        "model",
        "Train a small adapter of this rank beside frozen weights: little memory, and the reference policy is the "
        "model with the adapter off. 0 trains all weights.",
        "0: all weights",
    ),
    ConfigField(
        "system_prompt",
        "System prompt",
        "text",
        "model",
        "Stands before each prompt without a system message of its own. Empty leaves it to the model's chat template.",
    ),
    ConfigField(
        "chat_template",
        "Apply the chat template",
        "switch",
        "model",
        "Put each prompt into the model's chat template, when it has one; off gives it the bare text.",
    ),
    ConfigField(
        "gradient_checkpointing",
        "Gradient checkpointing",
        "switch",
        "model",
        "Forget activations and work them out again for the backward pass: much less memory, about a third slower.",
    ),
    ConfigField(
        "min_size",
        "Smallest problem",
        "whole",
        "task",
        "Digits or letters of the smallest problems drawn; 0 is the task's own range.",
        "0: own range",
    ),
    ConfigField(
        "max_size",
        "Largest problem",
        "whole",
        "task",
        "Digits or letters of the largest problems drawn; 0 is the task's own range.",
        "0: own range",
    ),
    ConfigField(
        "num_iterations",
        "Inner updates",
        "whole",
        "update",
        "Optimizer steps made on each rollout. With 1 the ratio is always 1 and nothing is clipped.",
    ),
    ConfigField(
        "micro_batch_prompts",
        "Prompts per micro-batch",
        "whole",
        "update",
        "How many prompts go through one forward and backward pass; smaller needs less memory and changes no result.",
        "0: all at once",
    ),
    ConfigField(
        "learning_rate",
        "Learning rate",
        "number",
        "update",
        "The optimizer's (AdamW) highest rate, reached after the warm-up.",
    ),
    ConfigField(
        "warmup_steps",
        "Warm-up steps",
        "whole",
        "update",
        "Steps over which the learning rate rises from 0 to its highest value.",
    ),
    ConfigField(
        "min_lr_ratio",
        "Final share of the rate",
        "number",
        "update",
        "After the warm-up the learning rate falls evenly to this share of its highest value.",
    ),
    ConfigField(
        "max_grad_norm",
        "Gradient norm limit",
        "number",
        "update",
        "Longer gradients are shortened to this length before each optimizer step; 0 never shortens.",
        "0: off",
    ),
    ConfigField(
        "weight_decay",
        "Weight decay",
        "number",
        "update",
        "How strongly the optimizer pulls the weights towards 0 (AdamW's decoupled decay).",
    ),
    ConfigField(
        "loss_type",
        "Loss",
        "choice",
        "loss",
        "How token losses are averaged: grpo per completion, bnpo over the tokens of a micro-batch, dapo over those of "
        "the step, dr_grpo by the fixed longest length; cispo caps the ratio instead of clipping the objective.",
        choices=LOSS_TYPES,
    ),
    ConfigField(
        "importance_sampling_level",
        "Ratio",
        "choice",
        "loss",
        "Whether the ratio of new to old probability is taken for each token or once for the whole sequence (GSPO).",
        choices=IMPORTANCE_SAMPLING_LEVELS,
    ),
    ConfigField(
        "epsilon",
        "Clip low epsilon",
        "number",
        "loss",
        "A ratio below 1 − epsilon earns no more gradient where the advantage is negative.",
    ),
    ConfigField(
        "epsilon_high",
        "Clip high epsilon",
        "optional",
        "loss",
        "A ratio above 1 + epsilon_high earns no more gradient where the advantage is positive. Empty: as low.",
        "empty: as low",
    ),
    ConfigField(
        "delta",
        "Ratio cap delta",
        "optional",
        "loss",
        "A second, absolute cap on the ratio where the advantage is negative (two-sided clipping). Empty: none.",
        "empty: none",
    ),
    ConfigField(
        "beta",
        "KL weight beta",
        "number",
        "loss",
        "How strongly the policy is held to the frozen reference policy: beta times the KL estimate joins the loss.",
        "0: no KL term",
    ),
    ConfigField(
        "use_bias_correction_kl",
        "Bias-corrected KL",
        "switch",
        "loss",
        "Multiply the KL estimate by the ratio, which makes it unbiased when the samples are from an older policy.",
    ),
    ConfigField(
        "mask_truncated_completions",
        "Leave out cut completions",
        "switch",
        "loss",
        "Completions that hit the longest length without an end token do not enter the loss.",
    ),
    ConfigField(
        "scale_rewards",
        "Divide by the spread of",
        "choice",
        "advantage",
        "Rewards are centred in their group, then divided by the standard deviation of the group, of the whole batch, "
        "or not at all.",
        choices=SCALE_REWARDS,
    ),
    ConfigField(
        "multi_objective_aggregation",
        "Several rewards",
        "choice",
        "advantage",
        "Add the weighted sources up and normalise the sum, or normalise each source in its group and add those.",
        choices=AGGREGATIONS,
    ),
    ConfigField(
        "advantage_std",
        "Standard deviation",
        "choice",
        "advantage",
        "Divide by n − 1 (sample, as TRL does) or by n (population) within the standard deviation.",
        choices=ADVANTAGE_STDS,
    ),
    ConfigField(
        "advantage_eps",
        "Added to the spread",
        "number",
        "advantage",
        "A small number added to the standard deviation, so that groups of nearly equal rewards do not explode.",
    ),
    ConfigField(
        "temperature",
        "Temperature",
        "number",
        "sampling",
        "Divides the logits before sampling: above 1 more varied, below 1 more certain completions.",
    ),
    ConfigField(
        "max_completion_length",
        "Longest completion",
        "whole",
        "sampling",
        "Tokens after which a completion is cut, the end token included.",
        "tokens",
    ),
    ConfigField(
        "top_k",
        "Top k",
        "whole",
        "sampling",
        "Sample only from the k likeliest tokens.",
        "0: off",
    ),
    ConfigField(
        "top_p",
        "Top p",
        "number",
        "sampling",
        "Sample only from the likeliest tokens that together hold this probability.",
        "1: off",
    ),
    ConfigField(
        "eval_steps",
        "Steps between evaluations",
        "whole",
        "evaluation",
        "Every so many steps the policy answers prompts it never trains on, at temperature 1.",
        "0: never",
    ),
    ConfigField(
        "eval_prompts",
        "Held-out prompts",
        "whole",
        "evaluation",
        "How many prompts an evaluation answers, one completion each.",
    ),
    ConfigField(
        "save_steps",
        "Steps between snapshots",
        "whole",
        "snapshots",
        "Every so many steps the model is kept as a folder that other tools load. One is made at the end in any case.",
        "0: only at the end",
    ),
    ConfigField(
        "save_total_limit",
        "Newest ones to keep",
        "whole",
        "snapshots",
        "Older snapshots make room for new ones; the best by held-out reward and pinned ones always stay.",
        "0: all",
    ),
    ConfigField(
        "save_best",
        "One at each new best",
        "switch",
        "snapshots",
        "Also make a snapshot whenever an evaluation finds a higher held-out reward than all before it.",
    ),
    ConfigField(
        "save_only_model",
        "Without training state",
        "switch",
        "snapshots",
        "Leave out optimizer and random state: a third of the size, but a run cannot be resumed exactly from it.",
    ),
    ConfigField(
        "threads",
        "Processor threads",
        "whole",
        "machine",
        "Threads torch may use. 1 is fastest for small models beside a live window.",
    ),
    *RATING_FIELDS,
    ConfigField(
        "bf16",
        "bf16 on cuda",
        "switch",
        "machine",
        "Compute matrix products in 16 bits on a graphics card: faster, slightly less exact.",
    ),
)

FIELDS: dict[str, ConfigField] = {field.name: field for field in _FIELDS}
SETTINGS_COUNT = len(fields(TrainConfig)) - 1  # `preset` only says where the others come from


def fields_of(group: str) -> Iterable[ConfigField]:
    """Return the fields of a group in the order of the form."""
    return [field for field in _FIELDS if field.group == group]


def parse(field: ConfigField, text: str) -> int | float | str | bool | None:
    """Return the value that was typed.

    Raises:
        ValueError: with the sentence to show below the field.
    """
    text = text.strip().replace("\u2212", "-").replace("\u2009", "")
    match field.kind:
        case "whole":
            try:
                return int(text)
            except ValueError:
                raise ValueError(f"{field.label} must be a whole number; it is {text or 'empty'}.") from None
        case "number":
            return _number(field, text)
        case "optional":
            return _number(field, text) if text else None
        case "switch":
            return text == "true"
        case _:
            return text


def to_text(value: object) -> str:
    """Return a value as a field shows it; `parse` reads it back."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.10g}".replace("e-0", "e-")
    return str(value)


def _number(field: ConfigField, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        optional = " or empty" if field.kind == "optional" else ""
        raise ValueError(f"{field.label} must be a number{optional}; it is {text or 'empty'}.") from None
