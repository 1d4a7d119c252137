"""Completes the metrics of a step with what its samples say."""

from collections.abc import Mapping

# what a run that did not record a metric gets from its samples
_FROM_SAMPLES = (
    ("frac_reward_zero_std", "samples/dead_groups"),
    ("dead_groups/all_right", "samples/dead_right"),
    ("dead_groups/all_wrong", "samples/dead_wrong"),
)


def completed(metrics: Mapping[str, float], samples: Mapping[str, float]) -> dict[str, float]:
    """Metrics and sample values in one, with the dead groups counted from samples where they were not recorded.

    Groups of earlier steps that were rated late take the place of as many unrated ones among the wasted tokens.
    """
    values = {**metrics, **samples}
    for name, source in _FROM_SAMPLES:
        if name not in values and source in samples:
            values[name] = samples[source]
    late = metrics.get("ratings/used", 0.0) - samples.get("samples/judged_groups", 0.0)
    if late > 0 and "waste/unrated" in samples:
        taught = late * samples["waste/tokens"] / samples["samples/groups"]
        values["waste/unrated"] = max(samples["waste/unrated"] - taught, 0.0)
    return values
