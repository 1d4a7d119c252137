from grpo_gui.diagnose.detectors.auxiliary_reward import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import Completion, Group, watch

FACTS = RunFacts(sources=(("exact", "exact", 1.0), ("format", "regex", 2.0)))


def group(*pairs):
    return (
        Group(
            completions=tuple(
                Completion(text=str(place), reward=exact + 2 * form, rewards=(("exact", exact), ("format", form)))
                for place, (exact, form) in enumerate(pairs)
            )
        ),
    )


def test_that_a_side_reward_that_decides_alone_is_found():
    only_form = group((0.0, 1.0), (0.0, 0.0), (0.0, 1.0), (0.0, 0.0))
    watched = watch(DETECTOR, steps=30, facts=FACTS, groups=lambda step: only_form, reward=1.0)
    assert watched.first[0] == 24
    assert "“format”" in watched.first[1].headline


def test_that_a_share_in_the_decision_is_none():
    both = group((1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0))
    assert watch(DETECTOR, steps=40, facts=FACTS, groups=lambda step: both, reward=1.0).names == []


def test_that_a_run_without_side_rewards_is_left_alone():
    facts = RunFacts(sources=(("exact", "exact", 1.0),))
    assert watch(DETECTOR, steps=30, facts=facts, reward=1.0).reading("auxiliary_reward") is Missing.NOT_RECORDED
    assert watch(DETECTOR, steps=30, reward=1.0).reading("auxiliary_reward") is Missing.NOT_RECORDED
