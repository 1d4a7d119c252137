"""One or more readings of each detector, to read their sentences aloud: `python -m tests.diagnose.sentences`."""

from grpo_gui.diagnose.detectors import DETECTORS
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Reading, Words

FACTS = RunFacts(
    num_generations=8,
    prompts_per_step=8,
    num_iterations=2,
    max_completion_length=16,
    temperature=1.0,
    learning_rate=3e-4,
    beta=0.0,
    epsilon=0.2,
    epsilon_high=0.2,
    scale_rewards="group",
    vocabulary_size=100,
    sources=(("exact", "exact", 1.0), ("length", "length", 0.5)),
)
COLD = RunFacts(num_generations=8, temperature=0.2)


def made(measured, threshold, subject="", /, **numbers):
    return Reading(True, measured, threshold, numbers=numbers, subject=subject)


READINGS: dict[str, tuple[Reading, ...]] = {
    "not_finite": (made(1, 0, "loss"), made(1, 0, "gradient")),
    "fresh_ratio": (made(0.3, 1e-3),),
    "kl_estimate": (made(0.2, 1e-4), made(-0.1, -1e-6)),
    "group_sums": tuple(made(2, 1e-4, subject) for subject in ("sum", "bound", "size", "index")),
    "wrong_mask": (
        made(12, 0, "mask"),
        made(-64, 0, "mask"),
        made(0.1, 1, "end"),
        made(0.2, 1e-4, "logp"),
        made(3, 0, "empty"),
        made(5.1, 4.6, "entropy"),
    ),
    "weights_stuck": (made(0.0, 0.0), made(0.3, 0.1)),
    "stale_export": (made(0, 0, "same"), made(0.02, 1e-5, "reload")),
    "constant_reward": (made(0, 1e-12, "always", value=1.0),),
    "silent_reward": (made(1, 1, "numeric", steps=12.0),),
    "slow_reward": (made(14, 10, now=2.1, usual=0.15),),
    "dead_groups": (
        made(0.62, 0.5, right=0.59, wrong=0.03),
        made(0.95, 0.5, right=0.0, wrong=0.95, copies=0.1),
        made(0.6, 0.5),
    ),
    "copies": (made(0.8, 0.5, distinct=0.2),),
    "dead_steps": (made(0.55, 0.4),),
    "unsolved_prompts": (made(0.6, 0.5),),
    "small_batch": (made(4.2, 8),),
    "no_progress": (made(0.05, 0.1, steps=180.0, start=0.31, now=0.3),),
    "entropy_falls": (made(0.4, 0.75, now=0.2, start=0.5, left=35.0), made(0.05, 0.1, now=0.02, start=0.5, left=0.0)),
    "entropy_rises": (made(1.8, 1.5, now=0.9, start=0.5),),
    "kl_runaway": (
        made(1.7, 1, now=2.0),
        made(0.2, 1, now=0.25, slope=0.006, before=0.001),
        made(0.2, 1, now=0.2, slope=0.01, before=0.0),
    ),
    "reward_falls": (made(0.45, 0.22, best=0.58, now=0.13),),
    "clip_saturation": (made(0.31, 0.2, low=0.28, high=0.03), made(0.12, 0.05, "one-sided", low=0.12, high=0.01)),
    "stale_samples": (made(0.4, 0.5, gap=0.3),),
    "truncation": (made(0.3, 0.1), made(0.3, 0.1, cut=0.0, ended=0.7, p=1e-9)),
    "repetition": (made(0.4, 0.2),),
    "gradient_spikes": (made(9, 1, norm=31.0, usual=0.8, count=2.0),),
    "length_pays": (made(0.7, 0.3, growth=1.4, share=0.9),),
    "length_grows": (made(1.5, 1.4, start=400.0, now=600.0),),
    "auxiliary_reward": (made(0.95, 0.9, "length"),),
    "human_disagrees": (made(0.3, 0.2, best=0.7, now=0.4),),
    "reward_fuzz": tuple(made(1, 0.5, kind) for kind in ("empty", "prompt_echo", "all_answers", "mine")),
    "held_out_falls": (made(0.1, 0.05, "falls", start=0.4, now=0.3), made(0, 0.05, "stays", start=0.4, now=0.41)),
    "rater_slips": (
        made(0.5, 0.65, "retest"),
        made(0.001, 0.01, "slot", slot=1.0, share=0.6),
        made(10, 10, "key"),
        made(0.2, 0.4, "haste"),
    ),
    "step_time": (made(1.5, 1.25, now=3.0, start=2.0, doubles=400.0),),
    "memory": (made(120, 500, used=6.0, free=2.0),),
    "slow_disk": (made(0.9, 1.2, "full"), made(300, 100, "slow")),
}


def all_words(name: str) -> list[Words]:
    """The sentences of a detector, with settings known, with a low temperature, and with nothing known."""
    (detector,) = (one for one in DETECTORS if one.name == name)
    return [detector.words(reading, facts) for reading in READINGS[name] for facts in (FACTS, COLD, RunFacts())]


if __name__ == "__main__":
    for one in DETECTORS:
        print(f"== {one.title} ({one.name}): {one.measure}")  # noqa: T201
        for words in dict.fromkeys(all_words(one.name)):
            print(f"  {words.headline}\n    {words.detail}\n    > {words.action.sentence}")  # noqa: T201
            for cause in words.causes:
                print(f"    because: {cause}")  # noqa: T201
