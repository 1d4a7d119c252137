"""Findings in the few words that cells and lists have room for."""

from collections.abc import Sequence

from grpo_gui.diagnose.finding import Finding, FindingState
from grpo_gui.diagnose.reading import Severity
from grpo_gui.diagnose.solved import HELD_OUT
from grpo_gui.ui.formatting import count
from grpo_gui.ui.models.run_health import RunHealth
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.models.verdicts import Cell, signal

TONES = {Severity.NOTE: "plain", Severity.WARNING: "warn", Severity.SEVERE: "bad"}
COLORS = {Severity.NOTE: "text2", Severity.WARNING: "warn", Severity.SEVERE: "bad"}
ICONS = {Severity.NOTE: "info", Severity.WARNING: "warning", Severity.SEVERE: "error"}


def health_cell(health: RunHealth, run: RunSeries) -> Cell:
    """The open findings; without one whether the task is solved, and how many groups teach something."""
    teaches = signal(run)
    shown = health.open
    if shown:
        first = shown[0]
        number = "1 finding" if len(shown) == 1 else f"{len(shown)} findings"
        unit = f"{first.severity.label}, since step {count(first.onset)}"
        if len(shown) == 1:
            return Cell(
                number, unit, f"{first.title}: {first.headline}", TONES[first.severity], (first.headline, first.title)
            )
        titles = [one.title for one in shown]
        others = f"{titles[0]} and {len(shown) - 1} more"
        return Cell(number, unit, ", ".join([titles[0], *map(str.lower, titles[1:])]), TONES[first.severity], (others,))
    if teaches.tone or not run.newest_step:
        return teaches
    with_signal, shorter = f"{teaches.headline} {teaches.unit}", f"{teaches.headline} with signal"
    if health.solved_since is not None:
        held_out = run.series("eval/accuracy").last_value  # NaN where none was recorded
        word = "Nearly solved" if held_out < HELD_OUT else "Solved"
        since = count(health.solved_since)
        longer = f"no finding; {with_signal}"
        return Cell(word, f"since step {since}", longer, "good", (with_signal, shorter), f"at {since}")
    return Cell("No finding", f"in {count(run.newest_step)} steps", with_signal, "", (shorter,))


def row_words(finding: Finding, health: RunHealth) -> tuple[str, str]:
    """The second line of a finding in a list, and the word at its right."""
    if finding.detector in health.muted:
        return finding.headline, "muted"
    if finding.root and finding.state is not FindingState.CLOSED:
        return f"caused by: {health.title(finding.root)}", f"step {count(finding.onset)}"
    if finding.state is FindingState.CLOSED:
        last = finding.history[-1] if finding.history else None
        return (f"{last.text} at step {count(last.step)}" if last is not None else finding.headline), "closed"
    return finding.headline, f"step {count(finding.onset)}"


def all_in_order(health: RunHealth) -> tuple[Finding, ...]:
    """Open ones first, then symptoms, then muted and closed ones; the three open ones that are shown lead."""

    def place(one: Finding) -> int:
        if one.detector in health.muted:
            return 2
        return (FindingState.OPEN, FindingState.SYMPTOM, FindingState.CLOSED).index(one.state) + (
            one.state is FindingState.CLOSED
        )

    return tuple(sorted(health.findings, key=place))


def tooltip_of(findings: Sequence[Finding]) -> str:
    """All open findings in full sentences."""
    return "\n".join(f"{one.title} (since step {count(one.onset)}): {one.headline}" for one in findings)
