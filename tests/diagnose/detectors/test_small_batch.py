from grpo_gui.diagnose.detectors.small_batch import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import group_of, watch

DEAD = group_of([0] * 8)
LIVE = group_of([1, 0, 0, 0, 0, 0, 0, 0])


def test_that_updates_that_rest_on_few_answers_are_found():
    watched = watch(DETECTOR, steps=30, groups=lambda step: (LIVE, DEAD, DEAD, DEAD))
    assert watched.first[0] == 24
    assert watched.first[1].value < 4  # (2 x 7/8)^2 / (7/8) scaled: 3.5


def test_that_full_batches_are_none():
    balanced = group_of([1, 0] * 4)
    assert watch(DETECTOR, steps=60, groups=lambda step: (balanced,) * 4).names == []


def test_that_a_run_made_small_is_left_alone():
    facts = RunFacts(num_generations=2, prompts_per_step=4)
    watched = watch(DETECTOR, steps=30, facts=facts, groups=lambda step: (group_of([1, 0]),))
    assert watched.reading("small_batch") is Missing.BY_CONSTRUCTION


def test_that_a_run_in_which_only_people_judge_is_left_alone():
    facts = RunFacts(sources=(("human", "human", 1.0),))
    watched = watch(DETECTOR, steps=30, facts=facts, groups=lambda step: (LIVE, group_of([None] * 8)))
    assert watched.reading("small_batch") is Missing.BY_CONSTRUCTION
