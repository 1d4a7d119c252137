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
        where = "behind the end of answers that are trained on" if reading.value > 0 else "of answers that are left out"
        what = f"tokens (pieces of words) {where}: {value}"
        why = "The model then learns from filler, or never learns to end an answer."
    elif reading.subject == "end":
        headline = "The model never learns to end an answer."
        what = f"only {percent(reading.value)} of the answers that ended are trained on with the mark that ends them"
        why = "Without it answers grow longer and longer."
    elif reading.subject == "logp":
        headline = "A probability is larger than 1."
        what = f"the model gives a word the probability {number(math.exp(min(reading.value, 20.0)))}"
        why = "That is no probability, and everything computed with it is wrong."
    elif reading.subject == "empty":
        headline = "Some answers are empty."
        what = f"answers without a single piece of a word, not even the mark that ends them: {value}"
        why = "Nothing can be learned from them."
    else:
        headline = "The model is more undecided than it can be."
        what = f"entropy measures that; with this vocabulary it can be {number(reading.threshold)} and it is {value}"
        why = "The probabilities then do not add up to 1."
    detail = f"{what[0].upper()}{what[1:]}. {why}"
    if reading.subject in ("mask", "end", "empty"):
        wrong, cause = "it trains on the wrong tokens.", "The program that trains marks the ends of answers wrongly."
    else:
        wrong, cause = "its probabilities are wrong.", "The program that trains computes the probabilities wrongly."
    return Words(headline, detail, report_a_bug(wrong), (cause,))


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
