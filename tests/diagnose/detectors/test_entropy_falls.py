import math

from grpo_gui.diagnose.detectors.entropy_falls import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing, Severity
from tests.diagnose.runs import noise, watch

EXACT = RunFacts(sources=(("exact", "exact", 1.0),), temperature=1.0, epsilon_high=0.2)


def decay(rate):
    return lambda step: 2.5 * math.exp(-rate * step)


def test_that_a_collapse_without_gain_is_found():
    step, finding = watch(DETECTOR, steps=120, facts=EXACT, entropy=decay(0.02), reward=0.4).first
    assert (step, finding.severity) == (44, Severity.WARNING)
    assert (finding.action.setting, finding.action.value) == ("epsilon_high", 0.28)


def test_that_entropy_that_is_gone_is_severe():
    watched = watch(DETECTOR, steps=200, entropy=decay(0.02), reward=0.4)
    assert [finding.severity for _, finding in watched.changes] == [Severity.WARNING, Severity.SEVERE]


def test_that_a_slow_decay_is_none():
    assert (
        watch(DETECTOR, steps=300, entropy=lambda step: 2.5 - 1.0 * (1 - math.exp(-step / 250)), reward=0.4).names == []
    )


def test_that_learning_explains_it():
    rising = (0.3 + 0.006 * i + 0.0 for i in range(120))
    watched = watch(DETECTOR, steps=110, facts=EXACT, entropy=decay(0.02), reward=list(rising))
    assert watched.names == []


def test_that_small_vocabularies_have_no_absolute_threshold():
    values = (0.02 + abs(noise(200, 0.002))).tolist()
    assert watch(DETECTOR, steps=200, entropy=values, reward=0.4).names == []


def test_that_a_low_temperature_is_what_to_change():
    facts = RunFacts(temperature=0.5)
    _, finding = watch(DETECTOR, steps=120, facts=facts, entropy=decay(0.02), reward=0.4).first
    assert (finding.action.setting, finding.action.value) == ("temperature", 1.0)


def test_that_forty_steps_are_needed():
    assert watch(DETECTOR, steps=39, entropy=1.0).reading("entropy_falls") is Missing.NOT_ENOUGH


def test_that_where_only_people_judge_what_is_gone_is_found_and_what_falls_is_not():
    rated = RunFacts(sources=(("human", "human", 1.0),), temperature=1.0, epsilon_high=0.2)
    step, finding = watch(DETECTOR, steps=200, facts=rated, entropy=decay(0.02)).first
    assert (step, finding.severity) == (132, Severity.SEVERE)
    assert watch(DETECTOR, steps=110, facts=rated, entropy=decay(0.02)).names == []
