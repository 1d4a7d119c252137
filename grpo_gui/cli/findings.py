"""Findings as a headless run prints them: one line when found, a short summary at the end."""

from collections.abc import Iterator, Sequence

from grpo_gui.diagnose.finding import Finding, FindingState


def live_line(finding: Finding) -> str:
    """What was found just now, with its step."""
    newest = finding.history[-1].step if finding.history else finding.noticed
    return f"step {newest}: {finding.title.lower()} ({finding.severity.label}). {finding.headline}"


def summary_lines(findings: Sequence[Finding], run_id: int) -> Iterator[str]:
    """The findings that no other explains, each with what to do; nothing for a run without one."""
    counted = [one for one in findings if one.is_finding]
    if not counted:
        return
    yield "1 finding:" if len(counted) == 1 else f"{len(counted)} findings:"
    for one in counted:
        closed = "" if one.state is FindingState.OPEN else ", closed since"
        yield f"  {one.title} ({one.severity.label}, since step {one.onset}{closed}). {one.headline}"
        yield f"    What to do: {one.action.sentence}"
    yield f"`grpo-gui diagnose {run_id}` says more."
