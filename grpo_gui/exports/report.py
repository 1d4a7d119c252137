"""A run as one HTML file to read and to send: curves, settings, best and worst groups, findings. Nothing in it runs."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from html import escape

from grpo_gui import __version__
from grpo_gui.diagnose.finding import Finding
from grpo_gui.diagnose.report_html import findings_html
from grpo_gui.errors import BadInputError
from grpo_gui.exports.svg import STYLE, Line, plot_svg
from grpo_gui.grpo.definitions import definition_of
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import GroupRecord, GroupRef, RunRecord

GROUPS = 3  # best, and worst
_LONGEST = 4000  # characters of a completion
# Without scripts and without anything from elsewhere, whatever stands in the completions.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

_ASIDE = (
    *("system/", "time/", "fuzz/", "check/", "kl/"),
    *("clip_ratio/", "completions/", "advantage/", "dead_groups/", "ratio/"),
)
_OTHER_PLOTS = 6  # beside the usual ones, for runs of other programs
PLOTS: tuple[tuple[str, ...], ...] = (
    ("reward", "eval/reward"),
    ("kl",),
    ("entropy",),
    ("loss",),
    ("grad_norm",),
    ("completions/mean_length",),
    ("clip_ratio/low_mean", "clip_ratio/high_mean"),
    ("frac_reward_zero_std",),
    ("step_time",),
)

_STYLE = """
:root { color-scheme: light dark; }
:root { --ground: #f3f4f6; --card: #ffffff; --ink: #1a1d21; --faint: #606975; --line: #d9dde3; }
@media (prefers-color-scheme: dark) {
:root { --ground: #15171b; --card: #1d2025; --ink: #e7e9ec; --faint: #9099a5; --line: #30353d; }
}
body { margin: 0 auto; padding: 24px; max-width: 1320px; background: var(--ground); color: var(--ink);
  font: 14px/1.45 system-ui, sans-serif; }
h1 { font-size: 22px; margin: 0; } h2 { font-size: 16px; margin: 28px 0 10px; } h3 { font-size: 14px; margin: 0 0 6px; }
p { margin: 4px 0; max-width: 80ch; } small, .faint { color: var(--faint); font-weight: 400; }
.plots { display: flex; flex-wrap: wrap; gap: 12px; }
article, .group { background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  padding: 12px; margin: 0 0 12px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { text-align: left; padding: 3px 16px 3px 0; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 500; color: var(--faint); } .number { text-align: right; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext;
  font: 13px/1.4 ui-monospace, monospace; }
.settings { columns: 2; column-gap: 40px; } .settings table { width: 100%; }
@media (max-width: 800px) { .settings { columns: 1; } }
"""


def report_html(reader: StoreReader, run_id: int, findings: Sequence[Finding]) -> str:
    """The whole report; everything that comes from the run is escaped.

    Raises:
        BadInputError: there is no such run.
        StoreError: the database cannot be read.
    """
    run = reader.run(run_id)
    if run is None:
        raise BadInputError(f"There is no run {run_id}; `grpo-gui runs` lists them.")
    title = f"{run.name} \u00b7 seed {run.seed}"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_safe(title)}</title><style>{_STYLE}{STYLE}</style></head><body>",
        f"<h1>{_safe(title)}</h1>",
        *_summary(run),
        *_notes(reader, run),
        "<h2>Curves</h2>",
        '<div class="plots">',
        *_plots(reader, run_id),
        "</div>",
        findings_html(findings, reader.muted_findings(run_id)),
        *_groups(reader, run_id, best=True),
        *_groups(reader, run_id, best=False),
        *_settings(run),
        f'<p class="faint">Written by grpo-gui {escape(__version__)}.</p>',
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def run_plots(reader: StoreReader, run_id: int) -> Iterator[tuple[str, list[Line]]]:
    """The plots of a run that have points: a title and its lines."""
    names = reader.series_names(run_id)
    main = {metric for metrics in PLOTS for metric in metrics}
    others = [(name,) for name in names if name not in main and not name.startswith(_ASIDE)]
    for metrics in (*PLOTS, *others[:_OTHER_PLOTS]):
        shown = [metric for metric in metrics if metric in names]
        if not shown:
            continue
        points = [reader.points(run_id, metric) for metric in shown]
        labels = [definition_of(metric).label if len(shown) > 1 else "" for metric in shown]
        lines = [Line(label, curve.steps, curve.values) for label, curve in zip(labels, points, strict=True)]
        yield definition_of(shown[0]).label, lines


def _summary(run: RunRecord) -> Iterator[str]:
    started = datetime.fromtimestamp(run.created_s).strftime("%Y-%m-%d %H:%M")
    words = f"{run.status.value}, {run.steps_done} steps, {run.completions} completions, started {started}"
    yield f"<p>{_safe(words)}. {_safe(run.message)}</p>"
    facts = [("Task", run.task), ("Device", run.device), ("Written by", run.program), ("Origin", run.origin)]
    facts += [("Tags", ", ".join(run.tags))] if run.tags else []
    facts += [(definition_of(name).label, f"{value:.4g}") for name, value in run.final_metrics if _is_main(name, value)]
    yield (
        "<table>"
        + "".join(f"<tr><th>{_safe(name)}</th><td>{_safe(text)}</td></tr>" for name, text in facts)
        + "</table>"
    )


def _is_main(name: str, value: float | None) -> bool:
    return name in ("reward", "eval/reward", "eval/accuracy", "kl", "entropy") and value is not None


def _notes(reader: StoreReader, run: RunRecord) -> Iterator[str]:
    notes = reader.notes(run.id)
    if notes:
        yield "<h2>Notes</h2>"
    for note in notes:
        yield f"<p><small>step {note.step}</small> {_safe(note.text)}</p>"


def _plots(reader: StoreReader, run_id: int) -> Iterator[str]:
    for title, lines in run_plots(reader, run_id):
        yield plot_svg(title, lines)


def _groups(reader: StoreReader, run_id: int, *, best: bool) -> Iterator[str]:
    ranked = reader.ranked_groups(run_id, GROUPS, best=best)
    yield f"<h2>{'Best' if best else 'Worst'} groups</h2>"
    if not ranked:
        yield "<p>No samples are stored.</p>"
    for place in ranked:
        group = reader.group(GroupRef(run_id, place.step, place.position))
        if group is not None:
            yield _group(group, place.mean_reward)


def _group(group: GroupRecord, mean: float) -> str:
    answer = f" \u00b7 right answer {group.answer}" if group.answer is not None else ""
    rows = []
    for completion in group.completions:
        reward = "\u2013" if completion.reward is None else f"{completion.reward:.3g}"
        cut = " (cut off)" if completion.truncated else ""
        text = completion.text[:_LONGEST] + ("\u2026" if len(completion.text) > _LONGEST else "")
        rows.append(
            f'<tr><td class="number">{reward}</td><td class="number">{completion.advantage:+.2f}</td>'
            f'<td class="number">{len(completion.token_ids)}{cut}</td><td><pre dir="auto">{_safe(text)}</pre></td></tr>'
        )
    head = "<tr><th>reward</th><th>advantage</th><th>tokens</th><th>completion</th></tr>"
    return (
        f'<div class="group"><h3>Step {group.ref.step}, group {group.ref.index + 1} '
        f"<small>mean reward {mean:.3g}{_safe(answer)}</small></h3>"
        f'<pre dir="auto">{_safe(group.prompt[:_LONGEST])}</pre><table>{head}{"".join(rows)}</table></div>'
    )


def _settings(run: RunRecord) -> Iterator[str]:
    yield "<h2>Settings</h2>"
    try:
        values = json.loads(run.config)
    except json.JSONDecodeError:
        values = None
    if not isinstance(values, dict):
        yield f"<pre>{_safe(run.config)}</pre>"
        return
    rows = "".join(
        f"<tr><th>{_safe(str(name))}</th><td>{_safe(json.dumps(value, ensure_ascii=False))}</td></tr>"
        for name, value in values.items()
    )
    yield f'<div class="settings"><table>{rows}</table></div>'


def _safe(text: str) -> str:
    """Escaped, and with a visible sign for every character that HTML may not hold."""
    kept = "".join(sign if sign in "\n\t" or _may_stand(sign) else "\ufffd" for sign in text.replace("\r\n", "\n"))
    return escape(kept)


def _may_stand(sign: str) -> bool:
    """False for control characters, lone surrogates and signs that turn the direction of what follows."""
    code = ord(sign)
    is_control = code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code <= 0xDFFF or (code & 0xFFFE) == 0xFFFE
    return not is_control and not (0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069)
