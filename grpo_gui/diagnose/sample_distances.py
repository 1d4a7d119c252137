"""How far a single completion is from the reference policy and from the policy that sampled it."""

import numpy as np

from grpo_gui.diagnose.sampled import SampledCompletion


def kl_mean(one: SampledCompletion) -> float | None:
    """Mean K3 estimate over the tokens of a completion, None where it was not recorded."""
    logps = np.frombuffer(one.logps, dtype="<f4").astype(np.float64)
    reference = np.frombuffer(one.ref_logps, dtype="<f4").astype(np.float64)
    if not logps.size or logps.size != reference.size:
        return None
    gap = np.minimum(reference - logps, 20.0)
    return float((np.exp(gap) - gap - 1.0).mean())


def ratio_gap(one: SampledCompletion) -> float | None:
    """Mean |ratio - 1| over the tokens of a completion at the last inner update, None where it was not recorded."""
    logps = np.frombuffer(one.logps, dtype="<f4").astype(np.float64)
    old = np.frombuffer(one.old_logps, dtype="<f4").astype(np.float64)
    if not logps.size or logps.size != old.size:
        return None
    return float(np.abs(np.exp(np.clip(logps - old, -20.0, 20.0)) - 1.0).mean())
