"""Whatever a run records, the diagnosis neither fails nor speaks of nan."""

import math
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_gui.diagnose.dead_compute import dead_compute
from grpo_gui.diagnose.detectors import DETECTORS
from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.learning import learning_report
from grpo_gui.diagnose.self_checks import self_checks
from tests.diagnose.runs import Completion, Group, logps

NAMES = sorted({name for detector in DETECTORS for name in detector.needs} | {"eval/accuracy", "reward", "step_time"})
VALUES = st.one_of(st.sampled_from([0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 1e30]), st.floats(-10, 10))
REWARD = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 0.5]), st.floats(-5, 5))


@st.composite
def completions(draw):
    count = draw(st.integers(0, 4))
    reward = draw(REWARD)
    return Completion(
        text=draw(st.sampled_from(["", "a", "x" * 80, "\ud800", "0 1 2"])),
        token_ids=tuple(range(count)),
        truncated=draw(st.booleans()),
        correct=draw(st.sampled_from([None, True, False])),
        reward=reward,
        rewards=(("exact", reward), ("other", draw(REWARD)))[: draw(st.integers(0, 2))],
        advantage=draw(st.sampled_from([0.0, 1.0, -1.0, math.nan, 100.0])),
        old_logps=logps(*[-1.0] * count),
        logps=logps(*[draw(st.sampled_from([-1.0, 0.5, -30.0]))] * count),
        ref_logps=logps(*[-2.0] * count) if draw(st.booleans()) else b"",
    )


GROUPS = st.lists(
    st.builds(
        lambda index, members: Group(index, f"prompt {index}", tuple(members)),
        st.integers(0, 3),
        st.lists(completions(), max_size=3),
    ),
    max_size=3,
)
FACTS = st.sampled_from(
    [RunFacts(), RunFacts(num_generations=2, scale_rewards="group", vocabulary_size=3, steps=5, temperature=0.1)]
)


@settings(max_examples=25)
@given(
    FACTS,
    st.lists(st.tuples(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=12), GROUPS), min_size=1, max_size=4),
)
def test_that_odd_steps_are_read(facts, rows):
    diagnosis = Diagnosis(facts)
    for step in range(1, 81):
        metrics, groups = rows[step % len(rows)]
        diagnosis.feed_step(step, metrics, tuple(groups))
    sentences = [line for finding in diagnosis.findings for line in (finding.headline, finding.detail)]
    sentences += [progress.sentence for progress in learning_report(diagnosis.history, diagnosis.prompts).progress]
    sentences += [check.sentence for check in self_checks(diagnosis.history, facts)]
    sentences.append(dead_compute(diagnosis.history).sentence)
    for sentence in sentences:
        assert not re.search(r"\b(nan|inf)\b", sentence), sentence
