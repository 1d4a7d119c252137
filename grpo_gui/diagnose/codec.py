"""Findings as JSON and back, for the database and the command line."""

import json
from typing import Any

from grpo_gui.diagnose.evidence import SampleRef
from grpo_gui.diagnose.finding import Finding, FindingState, Moment
from grpo_gui.diagnose.reading import Action, Severity
from grpo_gui.errors import BadInputError


def finding_to_dict(finding: Finding) -> dict[str, Any]:
    """Plain values, ready for JSON."""
    return {
        "detector": finding.detector,
        "title": finding.title,
        "severity": finding.severity.label,
        "state": finding.state.value,
        "root": finding.root,
        "onset": finding.onset,
        "noticed": finding.noticed,
        "seen": finding.seen,
        "headline": finding.headline,
        "detail": finding.detail,
        "causes": list(finding.causes),
        "action": {
            "sentence": finding.action.sentence,
            "setting": finding.action.setting,
            "value": finding.action.value,
            "live": finding.action.live,
        },
        "measure": finding.measure,
        "value": finding.value,
        "threshold": finding.threshold,
        "evidence": [list(ref) for ref in finding.evidence],
        "pauses": finding.pauses,
        "history": [[moment.step, moment.text] for moment in finding.history],
    }


def finding_to_json(finding: Finding) -> str:
    """The finding as JSON text."""
    return json.dumps(finding_to_dict(finding), ensure_ascii=False)


def finding_from_json(text: str) -> Finding:
    """The inverse of `finding_to_json`.

    Raises:
        BadInputError: the text is no finding of this version.
    """
    try:
        values = json.loads(text)
        return Finding(
            **{name: values[name] for name in _PLAIN},
            severity=Severity[values["severity"].upper()],
            state=FindingState(values["state"]),
            causes=tuple(values["causes"]),
            action=Action(**values["action"]),
            evidence=tuple(SampleRef(*ref) for ref in values["evidence"]),
            history=tuple(Moment(step, clause) for step, clause in values["history"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise BadInputError(f"A stored finding cannot be read ({error}); diagnose the run again.") from error


_PLAIN = (
    "detector",
    "title",
    "root",
    "onset",
    "noticed",
    "seen",
    "headline",
    "detail",
    "measure",
    "value",
    "threshold",
    "pauses",
)
