"""Reads what is known of runs made elsewhere."""

from grpo_gui.store.encoding import decode_text, encode_text
from grpo_gui.store.reading import ReadConnection, Row
from grpo_gui.store.records_outside import OutsideRun, SourceRecord

_RUN = """SELECT o.run_id, o.place, o.format, o.digest, o.summary FROM outside_runs o JOIN runs r ON r.id = o.run_id
WHERE r.binned_s IS NULL AND r.unfinished = 0"""


def outside_run(connection: ReadConnection, run_id: int) -> OutsideRun | None:
    """Where a run came from; None for a run of this program."""
    return _record(connection.row(f"{_RUN} AND o.run_id = ?", (run_id,)))


def find_outside_run(connection: ReadConnection, place: str, digest: str) -> OutsideRun | None:
    """The newest run that was read from a place, else one with the same content."""
    found = connection.row(f"{_RUN} AND o.place = ? ORDER BY o.run_id DESC LIMIT 1", (encode_text(place),))
    if found is None and digest:
        found = connection.row(f"{_RUN} AND o.digest = ? ORDER BY o.run_id DESC LIMIT 1", (digest,))
    return _record(found)


def sources(connection: ReadConnection, run_id: int) -> tuple[SourceRecord, ...]:
    """How far each file of a run was read, by name."""
    rows = connection.rows(
        "SELECT name, identity, offset, state, problem FROM outside_sources WHERE run_id = ? ORDER BY name", (run_id,)
    )
    return tuple(
        SourceRecord(decode_text(name), identity, offset, decode_text(state), decode_text(problem))
        for name, identity, offset, state, problem in rows
    )


def raw_names(connection: ReadConnection, run_id: int) -> dict[str, str]:
    """How the program that made a run calls its metrics, by our names; empty for a run of this program."""
    rows = connection.rows(
        "SELECT name, raw_name FROM series WHERE run_id = ? AND superseded = 0 AND raw_name != ''", (run_id,)
    )
    return {decode_text(name): decode_text(raw_name) for name, raw_name in rows}


def _record(row: Row | None) -> OutsideRun | None:
    if row is None:
        return None
    return OutsideRun(row[0], decode_text(row[1]), row[2], row[3], decode_text(row[4]))
