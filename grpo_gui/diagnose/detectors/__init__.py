"""The detectors: a new one is one file and one line here."""

from importlib import import_module

from grpo_gui.diagnose.reading import Detector

# In the order of the facts, A to F; each name is that of a file here and of the detector in it.
NAMES = (
    "not_finite",
    "fresh_ratio",
    "kl_estimate",
    "group_sums",
    "wrong_mask",
    "weights_stuck",
    "stale_export",
    "constant_reward",
    "silent_reward",
    "slow_reward",
    "dead_groups",
    "copies",
    "dead_steps",
    "unsolved_prompts",
    "small_batch",
    "no_progress",
    "entropy_falls",
    "entropy_rises",
    "kl_runaway",
    "reward_falls",
    "clip_saturation",
    "stale_samples",
    "truncation",
    "repetition",
    "gradient_spikes",
    "length_pays",
    "length_grows",
    "auxiliary_reward",
    "human_disagrees",
    "reward_fuzz",
    "held_out_falls",
    "rater_slips",
    "step_time",
    "memory",
    "slow_disk",
)

DETECTORS: tuple[Detector, ...] = tuple(import_module(f"{__name__}.{name}").DETECTOR for name in NAMES)
