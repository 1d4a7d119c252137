from grpo_gui.diagnose.detectors.wrong_mask import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from tests.diagnose.runs import Completion, Group, logps, watch


def found(facts=None, groups=(), **series):
    watched = watch(DETECTOR, steps=3, facts=facts, groups=lambda step: groups, **series)
    return watched.first[1].headline if watched.changes else None


def test_that_tokens_too_many_or_too_few_are_found():
    assert found(check__mask_tokens=5.0) == "The wrong words are trained on."
    assert found(check__mask_tokens=-5.0) == "The wrong words are trained on."
    assert found(check__mask_tokens=0.0) is None


def test_that_an_end_token_outside_of_the_mask_is_found():
    assert found(check__end_in_mask=0.0) == "The model never learns to end an answer."
    assert found(check__end_in_mask=1.0) is None


def test_that_impossible_probabilities_are_found():
    bad = (Group(completions=(Completion(old_logps=logps(0.1), logps=logps(-1.0)),)),)
    assert found(groups=bad) == "A probability is larger than 1."
    rounded = (Group(completions=(Completion(old_logps=logps(1e-6), logps=logps(-1.0)),)),)
    assert found(groups=rounded) is None


def test_that_empty_answers_are_found():
    group = Group(completions=(Completion(token_ids=()), Completion(token_ids=(5, 2))))
    assert found(groups=(group,)) == "Some answers are empty."


def test_that_tokens_that_nobody_recorded_are_no_empty_answers():
    assert found(groups=(Group(completions=(Completion(token_ids=()),)),)) is None


def test_that_entropy_beyond_the_vocabulary_is_found():
    assert found(RunFacts(vocabulary_size=100), entropy=4.7) == "The model is more undecided than it can be."
    assert found(RunFacts(vocabulary_size=100), entropy=4.6) is None
