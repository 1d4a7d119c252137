import pytest

from grpo_gui.diagnose.codec import finding_from_json, finding_to_json
from grpo_gui.diagnose.detectors import DETECTORS
from grpo_gui.errors import BadInputError
from tests.diagnose.runs import group_of, watch


def test_that_findings_come_back_as_they_were():
    watched = watch(
        *DETECTORS,
        steps=60,
        groups=lambda step: (group_of([0, 0, 0, 0], ["x"] * 4), group_of([1, 0, 0, 0], index=1)),
        kl=2.0,
        frac_reward_zero_std=0.5,
    )
    findings = watched.diagnosis.findings
    assert len(findings) >= 3
    for finding in findings:
        assert finding_from_json(finding_to_json(finding)) == finding


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"detector": "a"}', "null"])
def test_that_what_is_no_finding_is_refused(text):
    with pytest.raises(BadInputError, match="diagnose the run again"):
        finding_from_json(text)
