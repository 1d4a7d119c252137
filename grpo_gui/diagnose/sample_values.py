"""What the samples of one step add to its metrics: one number per series, all beginning with `samples/`."""

import math
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grpo_gui.diagnose.dead_compute import wasted_tokens
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.sampled import SampledCompletion, SampledGroup
from grpo_gui.diagnose.statistics import mean_of, row_correlations, row_spearman

Float64Array = npt.NDArray[np.float64]

ZLIB_RATIO = 4.0  # bytes before and after compression, above which a text repeats itself
DISTINCT_3 = 0.3  # distinct runs of three tokens over all of them, below which a text repeats itself
_SHORTEST_TEXT = 44  # zlib adds 11 bytes, so that shorter texts cannot reach the ratio
_SHORTEST_TOKENS = 6  # 4 runs of three tokens: fewer cannot fall below the share
_SPREAD_FLOOR = 1e-9


class Batch(NamedTuple):
    """The completions of a step as arrays (P, G), padded with NaN where groups are smaller."""

    reward: Float64Array
    advantage: Float64Array
    length: Float64Array
    truncated: Float64Array
    right: Float64Array  # 1, 0, NaN where there is no answer
    sizes: npt.NDArray[np.int64]  # (P,)


def sample_values(groups: Sequence[SampledGroup], facts: RunFacts) -> dict[str, float]:
    """All series that come from samples; empty without samples."""
    groups = [group for group in groups if group.completions]
    if not groups:
        return {}
    batch = make_batch(groups)
    completions = [one for group in groups for one in group.completions]
    values = _groups(groups, batch)
    if not facts.partial_samples:
        values |= _advantages(groups, batch, facts)
        values |= wasted_tokens(groups, mask_truncated=facts.mask_truncated_completions)
    values |= _lengths(batch)
    values |= _sources(groups, batch, facts)
    values |= _tokens(completions)
    long = (one for one in completions if len(one.text) >= _SHORTEST_TEXT or len(one.token_ids) >= _SHORTEST_TOKENS)
    values["samples/repetitive"] = sum(map(is_repetitive, long)) / len(completions)
    return values


def make_batch(groups: Sequence[SampledGroup]) -> Batch:
    """Collect the numbers of all completions in one pass."""
    sizes = np.array([len(group.completions) for group in groups])
    rows = [
        (
            math.nan if one.reward is None else one.reward,
            one.advantage,
            len(one.token_ids),
            one.truncated,
            math.nan if one.correct is None else one.correct,
        )
        for group in groups
        for one in group.completions
    ]
    table = np.array(rows, dtype=np.float64)
    widest = int(sizes.max())
    if sizes.min() == widest:
        columns = table.reshape(len(sizes), widest, 5)
    else:
        columns = np.full((len(sizes), widest, 5), np.nan)
        columns[np.arange(widest) < sizes[:, None]] = table
    reward, advantage, length, truncated, right = (columns[:, :, place] for place in range(5))
    return Batch(reward, advantage, length, truncated, right, sizes)


def _groups(groups: Sequence[SampledGroup], batch: Batch) -> dict[str, float]:
    distinct = np.array([len({one.text for one in group.completions}) for group in groups])
    copies = (distinct == 1) & (batch.sizes > 1)
    unknown = np.isnan(batch.right)
    right = np.where(unknown, 1.0, batch.right).min(axis=1) == 1
    right &= ~unknown.all(axis=1)
    wrong = np.where(unknown, -1.0, batch.right).max(axis=1) == 0
    dead = _spread(batch.reward) < _SPREAD_FLOOR
    judged = ~np.isnan(batch.reward).all(axis=1)
    values = {
        "samples/groups": float(len(groups)),
        "samples/judged_groups": float(np.count_nonzero(judged)),
        "samples/distinct": mean_of(distinct / batch.sizes),
        "samples/dead_copies": _share(dead & copies & ~right),
        "samples/groups_not_right": _share(~right),
        "samples/copies": _share(copies),
    }
    if judged.any():  # a group that nobody has rated yet may still teach something
        values["samples/dead_groups"] = _share(dead[judged])
        values["samples/dead_right"] = _share((dead & right)[judged])
        values["samples/dead_wrong"] = _share((dead & wrong)[judged])
    known = batch.right[~unknown]
    if known.size:
        values["samples/right"] = mean_of(known)
    return values


def _share(mask: npt.NDArray[np.bool_]) -> float:
    """The share that is true."""
    return float(np.count_nonzero(mask)) / mask.size


def _advantages(groups: Sequence[SampledGroup], batch: Batch, facts: RunFacts) -> dict[str, float]:
    known = np.where(np.isnan(batch.advantage), 0.0, batch.advantage)
    size = np.abs(known)
    squares = float((known * known).sum())
    values = {
        "samples/group_sum_error": float(np.abs(known.sum(axis=1)).max()),
        "samples/repeated_groups": float(len(groups) - len({group.index for group in groups})),
        "samples/effective_batch": float(size.sum()) ** 2 / squares if squares > 0 else 0.0,
    }
    if facts.num_generations is not None:
        values["samples/group_size_error"] = float((batch.sizes != facts.num_generations).sum())
    if facts.advantage_bound is not None:
        values["samples/advantage_excess"] = float(size.max()) - facts.advantage_bound
    return values


def _lengths(batch: Batch) -> dict[str, float]:
    rho = row_spearman(batch.length, batch.reward)
    rho = rho[~np.isnan(rho)]
    values = {
        "samples/length_rho_sum": float(rho.sum()),
        "samples/length_rho_positive": float((rho > 0).sum()),
        "samples/length_rho_negative": float((rho < 0).sum()),
    }
    rated = ~np.isnan(batch.reward)
    cut, ended = rated & (batch.truncated == 1), rated & (batch.truncated == 0)
    if cut.any():
        for name, chosen in (("truncated", cut), ("ended", ended)):
            rewards = batch.reward[chosen]
            values[f"samples/reward_{name}_count"] = float(len(rewards))
            values[f"samples/reward_{name}_sum"] = float(rewards.sum())
            values[f"samples/reward_{name}_squares"] = float((rewards * rewards).sum())
    return values


def _sources(groups: Sequence[SampledGroup], batch: Batch, facts: RunFacts) -> dict[str, float]:
    """Per source: the share that abstains, its spread, and the share of the reward's variance that it explains."""
    weights = {name: weight for name, _, weight in facts.sources}
    names = [name for name, _ in groups[0].completions[0].rewards] if groups[0].completions else []
    values = {}
    for place, name in enumerate(names):
        column = np.array([_source(one, place, name) for group in groups for one in group.completions])
        known = column[~np.isnan(column)]
        values[f"samples/abstains/{name}"] = 1.0 - len(known) / len(column)
        if len(known):
            values[f"samples/lowest/{name}"], values[f"samples/highest/{name}"] = float(known.min()), float(known.max())
        if len(names) > 1 and len(column) == batch.reward.size:
            share = _explained(weights.get(name, 1.0) * column.reshape(batch.reward.shape), batch.reward)
            if share is not None:
                values[f"samples/explains/{name}"] = share
    return values


def _source(one: SampledCompletion, place: int, name: str) -> float:
    if place >= len(one.rewards) or one.rewards[place][0] != name:
        return math.nan
    value = one.rewards[place][1]
    return math.nan if value is None else value


def _explained(part: Float64Array, total: Float64Array) -> float | None:
    """Squared correlation of a part with the whole reward inside the groups, pooled; None without any spread."""
    spread = _spread(total) >= _SPREAD_FLOOR
    if not spread.any():
        return None
    a, b = _centred(part[spread]), _centred(total[spread])
    found = row_correlations(a.reshape(1, -1), b.reshape(1, -1))[0]
    return 0.0 if math.isnan(found) else float(found * found)


def _centred(values: Float64Array) -> Float64Array:
    known = ~np.isnan(values)
    mean = np.where(known, values, 0.0).sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
    return np.asarray(values - mean)


def _spread(values: Float64Array) -> Float64Array:
    """Largest minus smallest of each group; 0 where fewer than two are rated."""
    low = np.where(np.isnan(values), np.inf, values).min(axis=1)
    high = np.where(np.isnan(values), -np.inf, values).max(axis=1)
    with np.errstate(invalid="ignore"):  # a group whose rewards are all infinite has no spread
        spread: Float64Array = np.where(high > low, high - low, 0.0)
    return spread


def _tokens(completions: Sequence[SampledCompletion]) -> dict[str, float]:
    """Largest log-probability, empty completions, and how far the ratios have spread by the last inner update."""
    empty = sum(not one.token_ids for one in completions)
    # Without a single token in the step they were not recorded: a run of another program.
    values = {"samples/empty": float(empty)} if empty < len(completions) else {}
    logps = np.frombuffer(b"".join([one.logps for one in completions]), dtype="<f4")
    old = np.frombuffer(b"".join([one.old_logps for one in completions]), dtype="<f4")
    if not logps.size or logps.size != old.size:
        return values
    gap = np.minimum(np.maximum(logps - old, -20.0), 20.0).astype(np.float64)
    ratio = np.exp(gap)
    values["samples/logp_max"] = float(max(logps.max(), old.max()))
    values["samples/ratio_mean"] = mean_of(ratio)
    values["samples/ratio_gap"] = float(np.abs(ratio - 1.0).max())
    values["samples/effective_share"] = float(ratio.sum()) ** 2 / (ratio.size * float(ratio @ ratio))
    reference = np.frombuffer(b"".join([one.ref_logps for one in completions]), dtype="<f4")
    if reference.size == old.size:
        log_gap = np.minimum(reference.astype(np.float64) - old, 20.0)
        values["samples/reference_kl"] = mean_of(np.exp(log_gap) - log_gap - 1.0)
    return values


def is_repetitive(one: SampledCompletion) -> bool:
    """Whether a completion says the same again and again: zlib ratio > 4, or distinct-3 < 0.3."""
    ids = one.token_ids
    if len(ids) >= _SHORTEST_TOKENS:
        runs = set(zip(ids, ids[1:], ids[2:], strict=False))
        if len(runs) < DISTINCT_3 * (len(ids) - 2):
            return True
    if len(one.text) < _SHORTEST_TEXT:
        return False
    data = one.text.encode("utf-8", "surrogatepass")
    return len(data) > ZLIB_RATIO * len(zlib.compress(data, 1))


def outcomes(groups: Sequence[SampledGroup]) -> Iterator[tuple[str, int, int]]:
    """(prompt, completions that are right, completions judged) of each group that has an answer."""
    for group in groups:
        judged = [one.correct for one in group.completions if one.correct is not None]
        if judged:
            yield group.prompt, sum(judged), len(judged)
