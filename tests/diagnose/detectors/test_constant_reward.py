from grpo_gui.diagnose.detectors.constant_reward import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing, Severity
from tests.diagnose.runs import group_of, watch


def test_that_a_reward_that_never_varies_is_found():
    watched = watch(DETECTOR, steps=20, reward=1.0, reward_std=0.0, rewards__always__mean=1.0, rewards__always__std=0.0)
    step, finding = watched.first
    assert (step, finding.severity) == (12, Severity.SEVERE)
    assert finding.headline == "The reward “always” is 1 for every answer."


def test_that_one_of_two_sources_is_named():
    facts = RunFacts(sources=(("exact", "exact", 1.0), ("format", "regex", 0.5)))
    watched = watch(
        DETECTOR,
        steps=20,
        facts=facts,
        reward=0.8,
        reward_std=0.4,
        rewards__exact__mean=0.3,
        rewards__exact__std=0.4,
        rewards__format__mean=0.5,
        rewards__format__std=0.0,
    )
    assert "“format”" in watched.first[1].headline
    assert "leave it out" in watched.first[1].action.sentence


def test_that_a_solved_task_once_varied():
    std = lambda step: 0.4 if step < 5 else 0.0  # noqa: E731
    watched = watch(DETECTOR, steps=60, reward=1.0, reward_std=std, rewards__exact__mean=1.0, rewards__exact__std=std)
    assert watched.names == []


def test_that_a_reward_that_nobody_has_met_yet_is_for_the_dead_groups():
    wrong = group_of([0, 0, 0, 0])
    watched = watch(
        DETECTOR,
        steps=30,
        groups=lambda step: (wrong,),
        reward=0.0,
        reward_std=0.0,
        rewards__exact__mean=0.0,
        rewards__exact__std=0.0,
    )
    assert watched.names == []


def test_that_ten_steps_are_needed():
    assert watch(DETECTOR, steps=9, reward=1.0, reward_std=0.0).reading("constant_reward") is Missing.NOT_ENOUGH
    assert watch(DETECTOR, steps=15, reward=1.0, reward_std=0.0).names == ["constant_reward"]
