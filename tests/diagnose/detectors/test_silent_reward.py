from grpo_gui.diagnose.detectors.silent_reward import DETECTOR
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import group_of, watch


def group(*values, source="numeric"):
    return (group_of([1] * len(values), sources=(("exact", 1.0), (source, values[0]))),)


def test_that_a_source_that_never_speaks_is_found():
    watched = watch(DETECTOR, steps=20, groups=lambda step: group(None, None))
    assert watched.first[0] == 12
    assert "“numeric”" in watched.first[1].headline


def test_that_one_word_is_enough():
    watched = watch(DETECTOR, steps=40, groups=lambda step: group(1.0 if step == 4 else None, None))
    assert watched.names == []


def test_that_people_may_be_late():
    assert watch(DETECTOR, steps=40, groups=lambda step: group(None, source="human")).names == []


def test_that_samples_are_needed():
    assert watch(DETECTOR, steps=20, reward=1.0).reading("silent_reward") is Missing.NOT_RECORDED
    assert watch(DETECTOR, steps=5, groups=lambda step: group(None)).reading("silent_reward") is Missing.NOT_ENOUGH
