"""The numbers of a token in words: for tooltips, screen readers and the line under the heat map."""

import numpy as np

from grpo_gui.ui.formatting import number
from grpo_gui.ui.models.token_values import TokenMeasure, TokenValues
from grpo_gui.ui.models.visible_text import quoted

MEASURE_TOOLTIPS: dict[TokenMeasure, str] = {
    TokenMeasure.LOG_RATIO: "log-ratio: logps − old_logps, in nats. Above 0 the update made the token more likely.",
    TokenMeasure.KL: "kl: the K3 estimate exp(ref − now) − (ref − now) − 1 of the token, in nats. 0 where the policy"
    " agrees with the reference.",
    TokenMeasure.ENTROPY: "entropy: of the distribution that the token was drawn from, in nats. 0 means no choice.",
}
NUMBER_TOOLTIPS: dict[str, str] = {
    "token": "Place of the token in the completion, counted from 1, and its text.",
    "old log-prob": "old_logps: log-probability under the policy that sampled the token, in nats.",
    "now": "logps: log-probability at the last inner update of the step, in nats.",
    "reference": "ref_logps: log-probability under the frozen reference policy, in nats.",
    "ratio": "ratio: exp(logps − old_logps), at the last inner update.",
    "KL": MEASURE_TOOLTIPS[TokenMeasure.KL],
    "entropy": MEASURE_TOOLTIPS[TokenMeasure.ENTROPY],
    "clipped": "Whether the ratio left the clip range on the side that the advantage pushes to:"
    " low with a negative, high with a positive advantage. A clipped token gives no gradient.",
}


def token_numbers(values: TokenValues, token: int) -> dict[str, str]:
    """Give the numbers of a token as text, by the names of NUMBER_TOOLTIPS less "token"."""
    return {
        "old log-prob": number(float(values.old_logps[token])),
        "now": number(float(values.logps[token])),
        "reference": number(float(values.ref_logps[token])),
        "ratio": number(float(values.ratio[token])),
        "KL": number(float(values.kl[token])),
        "entropy": number(float(values.entropy[token])),
        "clipped": clipped_word(int(values.clipped[token])),
    }


def clipped_word(sign: int) -> str:
    """Say how a token was clipped: low, high or no."""
    return {-1: "low", 1: "high"}.get(sign, "no")


def token_sentence(values: TokenValues, token: int) -> str:
    """Describe a token with all its numbers."""
    numbers = ", ".join(f"{name} {text}" for name, text in token_numbers(values, token).items())
    return f"token {token + 1} of {len(values)} {quoted(values.texts[token])}: {numbers}"


def map_sentence(values: TokenValues, measure: TokenMeasure) -> str:
    """Sum the heat map up: how many tokens, the range of the values, how many were clipped."""
    found = values.of(measure)
    found = found[np.isfinite(found)]
    if not found.size:
        return f"{len(values)} tokens, no {measure.value} stored"
    span = f"{measure.value} {number(float(found.min()))} to {number(float(found.max()))}"
    return f"{len(values)} tokens, {span}, {clip_sentence(values)[0]}"


def clip_sentence(values: TokenValues) -> tuple[str, str]:
    """Give the line under the heat map and the hint behind it."""
    low, high, count = values.clipped_low(), values.clipped_high(), len(values)
    if not low and not high:
        is_same = bool(np.all(np.abs(np.nan_to_num(values.log_ratio)) < 1e-7))
        hint = (
            "the ratio is 1 with one inner update per rollout" if is_same and values.has(TokenMeasure.LOG_RATIO) else ""
        )
        return f"0 of {count} clipped", hint
    marks = (("▼ clipped low", low), ("▲ clipped high", high))
    parts = [f"{mark}, {n} of {count}" for mark, n in marks if n]
    return "  ".join(parts), "outlined tokens get no gradient from this step"
