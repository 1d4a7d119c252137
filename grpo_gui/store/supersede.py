"""Puts aside what a run had stored after the step that it is resumed from."""

import sqlite3


def supersede_after(connection: sqlite3.Connection, run_id: int, step: int) -> None:
    """Mark everything of the run after `step` as superseded; it is kept and left out of all views.

    Runs inside the writer's transaction.
    """
    # The numbers of the changed parts may differ, so that the newest one of all counts.
    number = int(
        connection.execute(
            "SELECT 1 + max((SELECT coalesce(max(superseded), 0) FROM steps WHERE run_id = :run), "
            "(SELECT coalesce(max(superseded), 0) FROM series WHERE run_id = :run), "
            "(SELECT coalesce(max(superseded), 0) FROM changes WHERE run_id = :run), "
            "(SELECT coalesce(max(superseded), 0) FROM groups WHERE run_id = :run))",
            {"run": run_id},
        ).fetchone()[0]
    )
    values = {"run": run_id, "step": step, "number": number}
    where = "run_id = :run AND superseded = 0 AND step > :step"
    # Groups of a step that waits for ratings are not counted yet.
    gone = connection.execute(
        f"SELECT coalesce(sum(size), 0) FROM groups WHERE {where} "
        "AND step <= (SELECT steps_done FROM runs WHERE id = :run)",
        values,
    ).fetchone()[0]
    connection.execute(
        f"UPDATE completions SET superseded = :number WHERE group_id IN (SELECT id FROM groups WHERE {where})", values
    )
    for table in ("groups", "steps", "changes", "snapshots", "run_starts", "rating_uses", "rating_modes"):
        connection.execute(f"UPDATE {table} SET superseded = :number WHERE {where}", values)
    _supersede_points(connection, values)
    connection.execute(
        "UPDATE runs SET completions = completions - ?, steps_done = min(steps_done, ?) WHERE id = ?",
        (gone, step, run_id),
    )


def _supersede_points(connection: sqlite3.Connection, values: dict[str, int]) -> None:
    affected = connection.execute(
        "SELECT id, name, definition_id FROM series s WHERE run_id = :run AND superseded = 0 "
        "AND EXISTS (SELECT 1 FROM points WHERE series_id = s.id AND step > :step)",
        values,
    ).fetchall()
    for series_id, name, definition_id in affected:
        old = connection.execute(
            "INSERT INTO series (run_id, name, definition_id, superseded) VALUES (?, ?, ?, ?)",
            (values["run"], name, definition_id, values["number"]),
        ).lastrowid
        connection.execute(
            "UPDATE points SET series_id = ? WHERE series_id = ? AND step > ?", (old, series_id, values["step"])
        )
