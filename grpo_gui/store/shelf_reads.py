"""Reads what concerns many runs at once: the bin, sparklines, prompts that runs share, the best and worst groups."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from grpo_gui.store.encoding import decode_text, encode_text
from grpo_gui.store.reading import ReadConnection, placeholders
from grpo_gui.store.records import NoteRecord
from grpo_gui.store.records_runs import BinnedRun, RankedGroup, SharedPrompt, Sparkline


def binned_runs(connection: ReadConnection) -> tuple[BinnedRun, ...]:
    """The runs in the bin, those moved there last first."""
    rows = connection.rows(
        "SELECT id, name, seed, steps_done, completions, binned_s, unfinished FROM runs "
        "WHERE binned_s IS NOT NULL ORDER BY binned_s DESC, id DESC"
    )
    return tuple(BinnedRun(row[0], decode_text(row[1]), row[2], row[3], row[4], row[5], bool(row[6])) for row in rows)


def sparkline(connection: ReadConnection, run_id: int, name: str, buckets: int) -> Sparkline:
    """A metric of a run as at most `buckets` means over equal spans of steps."""
    newest = connection.row(
        "SELECT max(p.step) FROM series s JOIN points p ON p.series_id = s.id "
        "WHERE s.run_id = ? AND s.name = ? AND s.superseded = 0",
        (run_id, encode_text(name)),
    )
    last = -1 if newest is None or newest[0] is None else int(newest[0])
    if last < 0:
        return Sparkline(run_id, np.empty(0))
    count = min(buckets, last + 1)
    rows = connection.rows(
        "SELECT p.step * ? / ? AS bucket, avg(p.value) FROM series s JOIN points p ON p.series_id = s.id "
        "WHERE s.run_id = ? AND s.name = ? AND s.superseded = 0 GROUP BY bucket ORDER BY bucket",
        (count, last + 1, run_id, encode_text(name)),
    )
    values = np.full(count, np.nan)
    for bucket, mean in rows:
        values[bucket] = np.nan if mean is None else mean
    return Sparkline(run_id, values)


def all_notes(connection: ReadConnection) -> dict[int, tuple[NoteRecord, ...]]:
    """The notes of all runs, by run and step."""
    notes: dict[int, list[NoteRecord]] = defaultdict(list)
    for run_id, *rest in connection.rows("SELECT run_id, id, step, text, created_s FROM notes ORDER BY step, id"):
        notes[run_id].append(NoteRecord(rest[0], rest[1], decode_text(rest[2]), rest[3]))
    return {run_id: tuple(some) for run_id, some in notes.items()}


def shared_prompts(connection: ReadConnection, run_ids: Sequence[int], limit: int) -> tuple[SharedPrompt, ...]:
    """The prompts that at least two of the runs have sampled: those of most runs first, then the newest."""
    rows = connection.rows(
        f"""SELECT p.prompt, g.run_id, max(g.step) FROM groups g JOIN prompts p ON p.id = g.prompt_id
        WHERE g.run_id IN ({placeholders(run_ids)}) AND g.superseded = 0 GROUP BY p.prompt, g.run_id""",
        tuple(run_ids),
    )
    steps: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for prompt, run_id, step in rows:
        steps[decode_text(prompt)].append((run_id, step))
    shared = [SharedPrompt(prompt, tuple(places)) for prompt, places in steps.items() if len(places) > 1]
    shared.sort(key=lambda one: (-len(one.steps), -min(step for _, step in one.steps), one.prompt))
    return tuple(shared[:limit])


def group_of_prompt(connection: ReadConnection, run_id: int, prompt: str, near_step: int) -> tuple[int, int] | None:
    """Step and position of a run's group with this prompt that lies nearest to a step, None without one."""
    row = connection.row(
        "SELECT g.step, g.position FROM prompts p JOIN groups g ON g.prompt_id = p.id "
        "WHERE p.prompt = ? AND g.run_id = ? AND g.superseded = 0 ORDER BY abs(g.step - ?), g.step LIMIT 1",
        (encode_text(prompt), run_id, near_step),
    )
    return None if row is None else (int(row[0]), int(row[1]))


def ranked_groups(connection: ReadConnection, run_id: int, count: int, *, best: bool) -> tuple[RankedGroup, ...]:
    """The groups with the highest or the lowest mean reward; of equal ones the newest."""
    order = "DESC" if best else "ASC"
    rows = connection.rows(
        f"""SELECT g.step, g.position, avg(c.reward) AS mean FROM groups g JOIN completions c ON c.group_id = g.id
        WHERE g.run_id = ? AND g.superseded = 0 GROUP BY g.id HAVING mean IS NOT NULL
        ORDER BY mean {order}, g.step DESC, g.position LIMIT ?""",
        (run_id, count),
    )
    return tuple(RankedGroup(int(step), int(position), float(mean)) for step, position, mean in rows)
