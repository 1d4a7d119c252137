"""The findings of a run as a part of an HTML report: plain markup, everything escaped, nothing that runs."""

from collections.abc import Collection, Sequence
from html import escape

from grpo_gui.diagnose.evidence import SampleRef
from grpo_gui.diagnose.finding import Finding, FindingState


def findings_html(findings: Sequence[Finding], muted: Collection[str] = ()) -> str:
    """A section with an article for each finding that no other explains; its symptoms are named there."""
    roots = [one for one in findings if one.is_finding and one.detector not in muted]
    parts = ["<section class='findings'><h2>Findings</h2>"]
    if not roots:
        parts.append("<p>Nothing was found.</p>")
    parts += [_article(one, findings) for one in roots]
    hidden = [one for one in findings if one.is_finding and one.detector in muted]
    if hidden:
        names = ", ".join(f"{one.title.lower()} (since step {one.onset})" for one in hidden)
        parts.append(f"<p>Muted by the user: {escape(names)}.</p>")
    return "\n".join([*parts, "</section>"])


def _article(one: Finding, findings: Sequence[Finding]) -> str:
    state = "" if one.state is FindingState.OPEN else ", closed since"
    rows = [
        f"<article class='finding {escape(one.severity.label)}'>",
        f"<h3>{escape(one.title)} <small>({escape(one.severity.label)}, since step {one.onset}{state})</small></h3>",
        f"<p><strong>{escape(one.headline)}</strong> {escape(one.detail)}</p>",
    ]
    rows += [f"<p>Likely cause: {escape(cause)}</p>" for cause in one.causes]
    rows.append(f"<p>What to do: {escape(one.action.sentence)}</p>")
    if one.evidence:
        rows.append(f"<p>Samples that show it: {escape('; '.join(map(_place, one.evidence)))}.</p>")
    explained = [other.title.lower() for other in findings if other.root == one.detector]
    if explained:
        rows.append(f"<p>It also explains: {escape(', '.join(explained))}.</p>")
    story = "; ".join(f"step {moment.step}: {moment.text}" for moment in one.history)
    return "\n".join([*rows, f"<p><small>{escape(story)}</small></p>" if story else "", "</article>"])


def _place(ref: SampleRef) -> str:
    answer = "" if ref.completion is None else f" answer {ref.completion + 1}"
    return f"step {ref.step} group {ref.group + 1}{answer}"
