"""A4: the wrong tokens are trained on, or a probability cannot be one."""

import math

from grpo_gui.diagnose.actions import report_a_bug
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.text import number, percent

LOGP_LIMIT = 1e-4  # rounding of float32 leaves a log-probability this far above 0
ENTROPY_SLACK = 1.001
HOLD = 2


def check(history: History, facts: RunFacts) -> Reading | Missing:
    """Entropy > log V, a log-probability > 0, an empty completion, tokens of the mask missing or too many, no EOS.

    `check/mask_tokens` is the number of tokens trained on minus that of the completions that are, and
    `check/end_in_mask` the share of ended completions whose end token is trained on. Source: facts of the project, A4.
    """
    if (error := _newest(history, "check/mask_tokens")) != 0:
        return Reading(True, error, 0.0, Severity.SEVERE, subject="mask")
    if _newest(history, "check/end_in_mask", 1.0) < 1.0:
        return Reading(True, _newest(history, "check/end_in_mask"), 1.0, Severity.SEVERE, subject="end")
    if (logp := _newest(history, "samples/logp_max")) > LOGP_LIMIT:
        return Reading(True, logp, LOGP_LIMIT, Severity.SEVERE, subject="logp")
    if (empty := _newest(history, "samples/empty")) > 0:
        return Reading(True, empty, 0.0, Severity.SEVERE, subject="empty")
    entropy = _newest(history, "entropy")
    if facts.vocabulary_size and entropy > ENTROPY_SLACK * math.log(facts.vocabulary_size):
        return Reading(True, entropy, math.log(facts.vocabulary_size), Severity.SEVERE, subject="entropy")
    return Reading(False, 0.0, 0.0)


def _newest(history: History, name: str, default: float = 0.0) -> float:
    return float(history.tail(name, 1)[0]) if history.is_fresh(name) else default


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says which of the five it is."""
    value = number(abs(reading.value))
    if reading.subject == "mask":
        headline = "The wrong words are trained on."
        what = f"{value} tokens " + (
            "behind the end of answers are trained on" if reading.value > 0 else "of the answers are left out"
        )
        why = "The mask says which tokens belong to an answer; the model learns from filler, or never learns to end."
    elif reading.subject == "end":
        headline = "The model never learns to end an answer."
        what = f"only {percent(reading.value)} of the answers that ended have their end token in the mask"
        why = "The mask says which tokens are trained on; without the end token answers grow longer and longer."
    elif reading.subject == "logp":
        headline = "A probability is larger than 1."
        what = f"the model gives a word the probability {number(math.exp(min(reading.value, 20.0)))}"
        why = "That is no probability, and everything computed with it is wrong."
    elif reading.subject == "empty":
        headline = "Some answers are empty."
        what = f"{value} answers have not a single token, not even the one that ends them"
        why = "Nothing can be learned from them, and a mean over nothing is undefined."
    else:
        headline = "The model is more undecided than it can be."
        what = f"entropy measures that; with this vocabulary it can be {number(reading.threshold)} and it is {value}"
        why = "The probabilities then do not add up to 1."
    detail = f"{what[0].upper()}{what[1:]}. {why}"
    return Words(
        headline, detail, report_a_bug("it trains on the wrong tokens."), ("The mask or the lengths are off.",)
    )


DETECTOR = Detector(
    name="wrong_mask",
    title="Wrong tokens",
    needs=("rows",),
    check=check,
    words=words,
    hold=HOLD,
    pauses=True,
    measure="tokens trained on that do not belong to an answer",
)
