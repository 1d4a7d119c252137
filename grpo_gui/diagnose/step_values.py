"""Completes the metrics of a step with what its samples say."""

from collections.abc import Mapping

# what a run that did not record a metric gets from its samples
_FROM_SAMPLES = (
    ("frac_reward_zero_std", "samples/dead_groups"),
    ("dead_groups/all_right", "samples/dead_right"),
    ("dead_groups/all_wrong", "samples/dead_wrong"),
)


def completed(metrics: Mapping[str, float], samples: Mapping[str, float]) -> dict[str, float]:
    """Metrics and sample values in one, with the dead groups counted from samples where they were not recorded."""
    values = {**metrics, **samples}
    for name, source in _FROM_SAMPLES:
        if name not in values and source in samples:
            values[name] = samples[source]
    return values
