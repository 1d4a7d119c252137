"""A run whose reward is always the same, which the diagnosis says after a dozen steps, and findings made by hand."""

from dataclasses import replace

from grpo_gui.diagnose.evidence import SampleRef
from grpo_gui.diagnose.finding import Finding, FindingState, Moment
from grpo_gui.diagnose.reading import Action, Severity
from grpo_gui.events import GroupSample
from tests.ui.fakes import group, step_completed

STEPS = 16


def plain_group(place: int, step: int, rewards, right=(0,)) -> GroupSample:
    """A group whose reference is the policy itself; the answers with the numbers `right` are."""
    made = group(place, rewards, f"Prompt {place} of step {step}?")
    completions = tuple(
        replace(one, ref_logps=one.old_logps, text=f"{step}.{one.index}", correct=one.index in right)
        for one in made.completions
    )
    return replace(made, completions=completions)


def healthy_steps(run_id: int, last: int):
    """Events of steps in which half of the answers are right."""
    for step in range(1, last + 1):
        groups = tuple(plain_group(place, step, (1.0, 0.0, 1.0, 0.0)) for place in range(2))
        yield step_completed(run_id, step, groups, kl=0.0)


def broken_steps(run_id: int, first: int = 1, last: int = STEPS):
    """Events of steps in which every answer gets 1, whether it is right or not."""
    for step in range(first, last + 1):
        groups = tuple(plain_group(place, step, (1.0, 1.0, 1.0, 1.0)) for place in range(2))
        yield step_completed(
            run_id,
            step,
            groups,
            reward=1.0,
            reward_std=0.0,
            kl=0.01,
            entropy=0.9,
            grad_norm=0.5,
            step_time=0.1,
            frac_reward_zero_std=1.0,
            **{
                "rewards/exact/mean": 1.0,
                "rewards/exact/std": 0.0,
                "dead_groups/all_right": 0.0,
                "dead_groups/all_wrong": 1.0,
                "dead_groups/other": 0.0,
                "completions/clipped_ratio": 0.0,
                "completions/mean_length": 3.0,
            },
        )


def hard_steps(run_id: int, last: int = 30):
    """Events of steps in which every fourth prompt gets one right answer of four, and the others none."""
    for step in range(1, last + 1):
        one_right = plain_group(0, step, (1.0, 0.0, 0.0, 0.0))
        all_wrong = (plain_group(place, step, (0.0,) * 4, right=()) for place in range(1, 4))
        yield step_completed(
            run_id,
            step,
            (one_right, *all_wrong),
            reward=1 / 16,
            reward_std=0.25,
            kl=0.0,
            entropy=0.9,
            grad_norm=0.5,
            step_time=0.1,
            frac_reward_zero_std=0.75,
            **{
                "dead_groups/all_right": 0.0,
                "dead_groups/all_wrong": 0.75,
                "dead_groups/other": 0.0,
                "completions/clipped_ratio": 0.0,
                "completions/mean_length": 3.0,
            },
        )


def finding(detector="dead_groups", **changes) -> Finding:
    values = {
        "detector": detector,
        "title": "Dead groups",
        "severity": Severity.WARNING,
        "state": FindingState.OPEN,
        "onset": 5,
        "noticed": 9,
        "seen": 12,
        "headline": "62 % of the groups in the last 20 steps taught nothing.",
        "detail": "All answers got the same reward.",
        "causes": ("The prompts are too hard.",),
        "action": Action("Sample 16 answers for each prompt.", "num_generations", 16.0),
        "measure": "share of groups with equal rewards",
        "value": 0.62,
        "threshold": 0.5,
        "evidence": (SampleRef(3, 1), SampleRef(3, 0, 2)),
        "history": (Moment(9, "opened, warning"),),
    }
    return Finding(**(values | changes))
