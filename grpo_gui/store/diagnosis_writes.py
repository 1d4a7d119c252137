"""Writes findings and mutes. Runs in the writer's thread and transaction."""

import sqlite3
import time
from collections.abc import Sequence

from grpo_gui.store.encoding import encode_text
from grpo_gui.store.records_diagnosis import FindingRecord


def save_findings(connection: sqlite3.Connection, run_id: int, findings: Sequence[FindingRecord]) -> None:
    """Replace the findings of a run by these, in their order."""
    connection.execute("DELETE FROM findings WHERE run_id = ?", (run_id,))
    connection.executemany(
        "INSERT INTO findings (run_id, detector, position, title, severity, state, root, onset, noticed, headline, "
        "detail, action, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                run_id,
                one.detector,
                position,
                one.title,
                one.severity,
                one.state,
                one.root,
                one.onset,
                one.noticed,
                encode_text(one.headline),
                encode_text(one.detail),
                encode_text(one.action),
                encode_text(one.document),
            )
            for position, one in enumerate(findings)
        ],
    )


def mute_finding(connection: sqlite3.Connection, run_id: int, detector: str, muted: bool) -> None:
    """Mute a detector for a run, or let it be heard again."""
    if muted:
        connection.execute(
            "INSERT INTO muted_findings (run_id, detector, muted_s) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (run_id, detector, time.time()),
        )
    else:
        connection.execute("DELETE FROM muted_findings WHERE run_id = ? AND detector = ?", (run_id, detector))
