"""The per-token numbers of one completion: what the heat map, the bars and the number panel show."""

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from grpo_gui.events import CompletionSample

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int8]

LOG_RATIO_LIMIT = 20.0  # the loss clamps the log-ratio to this before exp (facts: "Ratio, clip, KL")
_NICE_STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0)


class TokenMeasure(Enum):
    """What the colour of a token means; the value is the label on the button."""

    LOG_RATIO = "log-ratio"
    KL = "KL"
    ENTROPY = "entropy"

    @property
    def is_diverging(self) -> bool:
        """True when values of both signs occur, so that the colour scale has its middle at zero."""
        return self is TokenMeasure.LOG_RATIO


# Below these a scale would blow rounding noise up to full colour.
_SMALLEST_SCALE = {TokenMeasure.LOG_RATIO: 0.05, TokenMeasure.KL: 0.01, TokenMeasure.ENTROPY: 0.1}


@dataclass(frozen=True, slots=True, eq=False)
class TokenValues:
    """Arrays of shape (T,), one entry per token. NaN: the run did not store that value.

    `kl` is the K3 estimate against the reference (times the ratio for runs with a bias-corrected KL),
    `clipped` is -1 low, 0 not clipped, 1 high; log-probabilities and entropy are in nats.
    """

    texts: tuple[str, ...]
    old_logps: FloatArray
    logps: FloatArray
    ref_logps: FloatArray
    entropy: FloatArray
    clipped: IntArray
    log_ratio: FloatArray
    ratio: FloatArray
    kl: FloatArray

    def __len__(self) -> int:
        """Tell the number of tokens."""
        return len(self.texts)

    def of(self, measure: TokenMeasure) -> FloatArray:
        """Give the values of one measure, shape (T,)."""
        match measure:
            case TokenMeasure.LOG_RATIO:
                return self.log_ratio
            case TokenMeasure.KL:
                return self.kl
            case TokenMeasure.ENTROPY:
                return self.entropy

    def has(self, measure: TokenMeasure) -> bool:
        """True when at least one token has a value of this measure."""
        return bool(np.isfinite(self.of(measure)).any())

    def scale(self, measure: TokenMeasure) -> float:
        """Give the value that gets full colour: a round number not below the largest size seen."""
        values = np.abs(self.of(measure))
        values = values[np.isfinite(values)]
        largest = float(values.max()) if values.size else 0.0
        return nice_ceiling(max(largest, _SMALLEST_SCALE[measure]))

    def shares(self, measure: TokenMeasure) -> FloatArray:
        """Give each token's place on the colour scale, in [-1, 1]; 0 where there is no value. Shape (T,)."""
        shares = self.of(measure) / self.scale(measure)
        return np.clip(np.nan_to_num(shares, nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)

    def clipped_low(self) -> int:
        """Count the tokens clipped at the lower bound."""
        return int((self.clipped < 0).sum())

    def clipped_high(self) -> int:
        """Count the tokens clipped at the upper bound."""
        return int((self.clipped > 0).sum())


def token_values(sample: CompletionSample, *, bias_corrected_kl: bool = False) -> TokenValues:
    """Unpack the blobs of a completion into arrays of shape (T,).

    K3 is `exp(ref - cur) - (ref - cur) - 1` (Schulman, "Approximating KL divergence", 2020). A blob that is
    missing or of another length than the tokens becomes NaN, since nothing can be said about its alignment.
    """
    count = len(sample.token_ids)
    old, now, ref = (_floats(blob, count) for blob in (sample.old_logps, sample.logps, sample.ref_logps))
    log_ratio = np.clip(now - old, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
    ratio = np.exp(log_ratio)
    gap = np.clip(ref - now, -700.0, 700.0)  # exp overflows float64 just above 709
    kl = np.exp(gap) - gap - 1.0
    return TokenValues(
        texts=_texts(sample, count),
        old_logps=old,
        logps=now,
        ref_logps=ref,
        entropy=_floats(sample.entropy, count),
        clipped=_signs(sample.clipped, count),
        log_ratio=log_ratio,
        ratio=ratio,
        kl=kl * ratio if bias_corrected_kl else kl,
    )


def nice_ceiling(value: float) -> float:
    """Round a positive value up to one that reads well at the end of a scale (0.31 gives 0.35)."""
    unit = 10.0 ** math.floor(math.log10(value))
    share = value / unit
    step = next((step for step in _NICE_STEPS if share <= step * (1 + 1e-9)), _NICE_STEPS[-1])
    return float(f"{step * unit:.6g}")


def _floats(blob: bytes, count: int) -> FloatArray:
    if len(blob) != 4 * count:
        return np.full(count, np.nan)
    return np.frombuffer(blob, dtype="<f4").astype(np.float64)


def _signs(blob: bytes, count: int) -> IntArray:
    if len(blob) != count:
        return np.zeros(count, dtype=np.int8)
    return np.frombuffer(blob, dtype=np.int8)


def _texts(sample: CompletionSample, count: int) -> tuple[str, ...]:
    """One text per token; the end-of-sequence token, which is not part of the completion's text, reads "end"."""
    texts = sample.tokens if len(sample.tokens) == count else tuple(f"#{token}" for token in sample.token_ids)
    if not texts or sample.truncated:
        return texts
    last = texts[-1]
    if last and sample.text.endswith(last):
        return texts
    return (*texts[:-1], "end")
