"""Turns the completions of our bridge into the store's samples, with the values of their tokens as they come."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from grpo_gui.events import CompletionSample
from grpo_gui.outside.pieces import number

Float32Array = npt.NDArray[np.float32]
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@dataclass(frozen=True, slots=True)
class ClipBounds:
    """How far the ratio may go from 1 (TRL's epsilon and epsilon_high), and which KL the run measures."""

    low: float = 0.2
    high: float = 0.2
    corrects_kl: bool = False  # use_bias_correction_kl: the KL of a token is multiplied by its ratio


def clip_bounds(config: Mapping[str, object]) -> ClipBounds:
    """The bounds of a run's config."""
    low = number(config.get("epsilon"))
    high = number(config.get("epsilon_high"))
    low = 0.2 if low is None else low
    return ClipBounds(low, low if high is None else high, config.get("use_bias_correction_kl") is True)


def decoded(value: object) -> float | None:
    """A number of a line: NaN and infinities are strings there, because JSON has none."""
    if isinstance(value, str):
        return _SPECIAL.get(value)
    return number(value)


def sample_of(event: Mapping[str, object], index: int) -> CompletionSample:
    """The sample of a `completion` event.

    Raises:
        ValueError: a field is of the wrong kind.
    """
    ids = _ids(event.get("tokens"))
    texts = event.get("texts")
    rewards = event.get("rewards")
    advantage = decoded(event.get("advantage"))
    return CompletionSample(
        index=index,
        text=_text(event, "completion"),
        token_ids=ids,
        tokens=tuple(map(str, texts)) if isinstance(texts, list) and len(texts) == len(ids) else (),
        truncated=event.get("truncated") is True,
        correct=None,
        reward=_opinion(event.get("reward")),
        rewards=_opinions(rewards) if isinstance(rewards, Mapping) else (),
        advantage=math.nan if advantage is None else advantage,
        old_logps=_floats(event.get("old_logps"), len(ids)),
        logps=b"",
        ref_logps=_floats(event.get("ref_logps"), len(ids)),
        entropy=b"",
        clipped=b"",
        ratio_min=math.nan,
        ratio_max=math.nan,
        clip_fraction_low=math.nan,
        clip_fraction_high=math.nan,
        kl_mean=None,
        kl_max=None,
    )


def with_scores(
    sample: CompletionSample, rewards: Mapping[str, object], reward: object, advantage: object
) -> CompletionSample:
    """The sample with what became known after its rewards were computed."""
    value = decoded(advantage)
    return replace(
        sample,
        rewards=_opinions(rewards),
        reward=_opinion(reward),
        advantage=math.nan if value is None else value,
    )


def with_token_values(sample: CompletionSample, old_logps: object, ref_logps: object) -> CompletionSample:
    """The sample with the log-probabilities of the policy that sampled and of the reference; None: not recorded.

    Raises:
        ValueError: the number of values is not that of its tokens.
    """
    count = len(sample.token_ids)
    return replace(
        sample,
        old_logps=_floats(old_logps, count) or sample.old_logps,
        ref_logps=_floats(ref_logps, count) or sample.ref_logps,
    )


def with_update(sample: CompletionSample, logps: object, entropy: object, bounds: ClipBounds) -> CompletionSample:
    """The sample after an inner update. Without old log-probabilities those of the first update are the old ones.

    Raises:
        ValueError: the number of values is not that of its tokens.
    """
    count = len(sample.token_ids)
    now = _floats(logps, count)
    old = sample.old_logps or now
    ratio = np.exp(_array(now) - _array(old))
    clipped = np.zeros(count, dtype=np.int8)
    if sample.advantage < 0:
        clipped[ratio < 1 - bounds.low] = -1
    elif sample.advantage > 0:
        clipped[ratio > 1 + bounds.high] = 1
    kl = _kl(_array(now), _array(sample.ref_logps)) if sample.ref_logps else None
    if kl is not None and bounds.corrects_kl:
        kl = kl * ratio
    return replace(
        sample,
        old_logps=old,
        logps=now,
        entropy=_floats(entropy, count),
        clipped=clipped.tobytes(),
        ratio_min=float(ratio.min(initial=math.inf)) if count else math.nan,
        ratio_max=float(ratio.max(initial=-math.inf)) if count else math.nan,
        clip_fraction_low=float((clipped == -1).mean()) if count else 0.0,
        clip_fraction_high=float((clipped == 1).mean()) if count else 0.0,
        kl_mean=float(kl.mean()) if kl is not None and count else None,
        kl_max=float(kl.max()) if kl is not None and count else None,
    )


def _kl(logps: Float32Array, ref_logps: Float32Array) -> Float32Array:
    """The k3 estimate: exp(ref - now) - (ref - now) - 1."""
    difference = ref_logps - logps
    return np.asarray(np.exp(difference) - difference - 1, dtype=np.float32)


def _array(blob: bytes) -> Float32Array:
    return np.frombuffer(blob, dtype="<f4")


def _floats(values: object, count: int) -> bytes:
    if values is None:
        return b""
    if not isinstance(values, Sequence) or len(values) != count:
        raise ValueError(f"{count} values of tokens are needed")
    numbers = [decoded(value) for value in values]
    return np.array([math.nan if value is None else value for value in numbers], dtype="<f4").tobytes()


def _ids(value: object) -> tuple[int, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(type(one) is int and 0 <= one < 2**32 for one in value):
        raise ValueError("tokens are no list of token ids")
    return tuple(value)


def _opinions(rewards: Mapping[str, object]) -> tuple[tuple[str, float | None], ...]:
    return tuple((str(name), _opinion(value)) for name, value in rewards.items())


def _opinion(value: object) -> float | None:
    found = decoded(value)
    return None if found is None or math.isnan(found) else found


def _text(event: Mapping[str, object], name: str) -> str:
    value = event.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value
