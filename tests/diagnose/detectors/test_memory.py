from grpo_gui.diagnose.detectors.memory import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import watch


def leaks(step):
    return 1.0 + 0.01 * step


def test_that_a_leak_that_will_not_last_to_the_end_is_found():
    watched = watch(DETECTOR, steps=80, facts=RunFacts(steps=1000), system__memory_gb=leaks, system__memory_free_gb=2.0)
    assert watched.first[0] == 64
    assert "about 200 steps" in watched.first[1].headline


def test_that_enough_room_is_none():
    facts = RunFacts(steps=200)
    assert watch(DETECTOR, steps=80, facts=facts, system__memory_gb=leaks, system__memory_free_gb=20.0).names == []
    assert watch(DETECTOR, steps=80, system__memory_gb=1.0, system__memory_free_gb=0.1).names == []


def test_that_sixty_steps_are_needed():
    watched = watch(DETECTOR, steps=59, system__memory_gb=leaks, system__memory_free_gb=1.0)
    assert watched.reading("memory") is Missing.NOT_ENOUGH
