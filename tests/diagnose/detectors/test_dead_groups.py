from grpo_gui.diagnose.detectors.dead_groups import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing, Severity
from tests.diagnose.runs import group_of, watch


def test_that_half_of_the_groups_dead_over_twenty_steps_is_a_finding():
    watched = watch(DETECTOR, steps=40, frac_reward_zero_std=0.5)
    step, finding = watched.first
    assert (step, finding.onset, finding.severity) == (24, 20, Severity.WARNING)
    assert finding.headline == "50 % of the groups in the last 20 steps taught nothing."


def test_that_fewer_are_no_finding():
    assert watch(DETECTOR, steps=100, frac_reward_zero_std=0.49).names == []


def test_that_less_than_twenty_steps_are_not_enough():
    assert watch(DETECTOR, steps=19, frac_reward_zero_std=1.0).reading("dead_groups") is Missing.NOT_ENOUGH
    assert watch(DETECTOR, steps=30, reward=1.0).reading("dead_groups") is Missing.NOT_RECORDED


def test_that_groups_of_two_are_measured_against_their_best_case():
    facts = RunFacts(num_generations=2)
    assert watch(DETECTOR, steps=60, facts=facts, frac_reward_zero_std=0.7).names == []
    step, finding = watch(DETECTOR, steps=60, facts=facts, frac_reward_zero_std=0.8).first
    assert finding.threshold == 0.75
    assert (finding.action.setting, finding.action.value) == ("num_generations", 8)
    assert step == 24


def test_that_hard_prompts_ask_for_more_answers_and_easy_ones_for_harder_prompts():
    hard = watch(DETECTOR, steps=30, frac_reward_zero_std=0.95, dead_groups__all_right=0.0, dead_groups__all_wrong=0.95)
    assert "too hard" in hard.first[1].causes[0]
    assert hard.first[1].severity is Severity.SEVERE
    easy = watch(
        DETECTOR, steps=90, reward=0.7, frac_reward_zero_std=0.6, dead_groups__all_right=0.6, dead_groups__all_wrong=0.0
    )
    assert "too easy" in easy.first[1].causes[0]
    assert easy.first[0] == 64  # only when the reward has not risen over 60 steps


def test_that_groups_that_are_all_right_are_success_while_the_reward_rises():
    watched = watch(
        DETECTOR,
        steps=120,
        reward=lambda step: 0.5 + 0.002 * step,
        frac_reward_zero_std=0.6,
        dead_groups__all_right=0.5,
        dead_groups__all_wrong=0.1,
    )
    assert watched.names == []


def test_that_a_solved_task_is_a_status_and_no_finding():
    watched = watch(
        DETECTOR, steps=200, reward=1.0, eval__accuracy=0.97, frac_reward_zero_std=1.0, dead_groups__all_right=1.0
    )
    assert watched.names == []
    assert watched.diagnosis.mastered_since == 2


def test_that_dead_groups_are_the_samples_that_show_it():
    groups = (group_of([1, 0]), group_of([0, 0], index=1))
    watched = watch(DETECTOR, steps=24, groups=lambda step: groups, frac_reward_zero_std=0.5)
    assert [(ref.step, ref.group) for ref in watched.first[1].evidence] == [(step, 1) for step in (24, 23, 22, 21, 20)]


def test_that_groups_that_nobody_has_rated_yet_are_not_dead():
    unrated, dead = group_of([None] * 4), group_of([0] * 4)
    assert watch(DETECTOR, steps=40, groups=lambda step: (unrated,) * 8).names == []
    assert watch(DETECTOR, steps=40, groups=lambda step: (unrated, dead)).names == ["dead_groups"]
