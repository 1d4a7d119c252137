"""One process reads a place at a time, and a place is one run: decided in the transaction that begins the run."""

import sqlite3

from grpo_gui.errors import BadInputError
from grpo_gui.events import RunStatus
from grpo_gui.store.encoding import encode_text
from grpo_gui.store.liveness import is_alive, own_process
from grpo_gui.store.outside_writes import save_outside_run
from grpo_gui.store.records import NewRun
from grpo_gui.store.records_outside import OutsideRun
from grpo_gui.store.run_writes import create_run


def begin(connection: sqlite3.Connection, run: NewRun, place: str, kind: str, program: str) -> int:
    """The run of a place: the one that is there already, else a new one; return its id.

    Raises:
        BadInputError: another process reads the place now.
    """
    found = connection.execute(
        "SELECT o.run_id FROM outside_runs o JOIN runs r ON r.id = o.run_id WHERE o.place = ? AND r.binned_s IS NULL "
        "AND r.unfinished = 0 ORDER BY o.run_id DESC LIMIT 1",
        (encode_text(place),),
    ).fetchone()
    if found is not None:
        run_id = int(found[0])
        _require_free(connection, run_id)
        return run_id
    run_id = create_run(connection, run, program)
    save_outside_run(connection, OutsideRun(run_id, place, kind, "", ""))
    return run_id


def take(connection: sqlite3.Connection, run_id: int) -> None:
    """Make this process the one that reads a run.

    Raises:
        BadInputError: another process reads it now.
    """
    status = _require_free(connection, run_id)
    connection.execute(
        "UPDATE runs SET status = ?, pid = ?, process_started_s = ? WHERE id = ?",
        ((status if status.is_active else RunStatus.WAITING).value, *own_process(), run_id),
    )


def _require_free(connection: sqlite3.Connection, run_id: int) -> RunStatus:
    name, pid, started_s = connection.execute(
        "SELECT status, pid, process_started_s FROM runs WHERE id = ?", (run_id,)
    ).fetchone()
    status = RunStatus(name)
    if status.is_active and pid != own_process()[0] and is_alive(pid, started_s):
        raise BadInputError(
            f"Run {run_id} is being read from there already, by another process or window; wait until that ends."
        )
    return status
