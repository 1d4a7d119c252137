"""Whatever a file holds, importing it raises nothing but our own error."""

import contextlib
import json
import struct
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grpo_gui.diagnose.metric_rows import diagnose_rows
from grpo_gui.errors import BadInputError
from grpo_gui.outside.diagnosing import read_run
from grpo_gui.outside.importing import import_path
from grpo_gui.outside.pieces import OutsideError
from grpo_gui.outside.tensorboard import is_event_file, parse_event
from grpo_gui.store.writer import StoreWriter
from tests.outside.conftest import DATA

EXAMPLES = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.sampled_from(["NaN", "1", "5/9", ""])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
NAMES = st.sampled_from(
    [
        "step",
        "data",
        "reward",
        "rewards/a/mean",
        "prompt",
        "completion",
        "input",
        "output",
        "score",
        "uid",
        "advantage",
        "v",
        "seq",
        "rank",
        "kind",
        "session",
        "generation",
        "row",
        "rows",
        "size",
        "values",
        "tokens",
        "logps",
        "time",
        "entropy",
        "rewards",
        "advantages",
        "old_logps",
        "ref_logps",
        "config",
        "eval_reward",
        "global_step",
        "x",
    ]
)
KINDS = st.sampled_from(["start", "completion", "scores", "update", "metrics", "rate", "status", "end", "other"])
RECORDS = st.dictionaries(NAMES, VALUES, max_size=8)
ROLLOUTS = st.tuples(RECORDS, VALUES, VALUES, SCALARS | st.floats(0, 1)).map(
    lambda four: {**four[0], "input": four[1], "output": four[2], "score": four[3]}
)
BRIDGE = RECORDS.flatmap(
    lambda record: st.tuples(KINDS, st.integers(0, 3), st.integers(0, 7)).map(
        lambda three: (
            {**record, "v": 1, "seq": 0, "rank": 0, "kind": three[0], "step": three[1], "row": three[2]}
            | {"session": "s", "generation": 0, "size": record.get("size", 2)}
        )
    )
)


def check(write):
    """Import what `write` leaves in a folder, and diagnose it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        folder.mkdir()
        write(folder)
        writer = StoreWriter.open(Path(name) / "a.db")
        try:
            for _ in range(2):
                list(import_path(folder, writer))
        except OutsideError:
            pass
        finally:
            writer.close()
        with contextlib.suppress(BadInputError):
            diagnose_rows(read_run(folder))


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


@EXAMPLES
@given(st.lists(RECORDS, min_size=1, max_size=6), st.sampled_from(["a.jsonl", "1.jsonl", "rank0.jsonl"]))
def test_that_any_json_lines_are_read_or_refused(records, name):
    check(lambda folder: (folder / name).write_text(lines(records), encoding="utf-8"))


@EXAMPLES
@given(st.lists(BRIDGE, min_size=1, max_size=12))
def test_that_any_lines_of_the_bridge_are_read_or_refused(records):
    check(lambda folder: (folder / "rank0.jsonl").write_text(lines(records), encoding="utf-8"))


@EXAMPLES
@given(st.lists(st.lists(ROLLOUTS, max_size=4), min_size=1, max_size=3), st.lists(RECORDS, max_size=3))
def test_that_any_rollouts_of_verl_are_read_or_refused(steps, log):
    def write(folder):
        (folder / "log.jsonl").write_text(lines({"step": 1, "data": record} for record in log), encoding="utf-8")
        (folder / "rollouts").mkdir()
        for step, records in enumerate(steps, 1):
            (folder / f"rollouts/{step}.jsonl").write_text(lines(records), encoding="utf-8")

    check(write)


@EXAMPLES
@given(st.lists(RECORDS, max_size=6), RECORDS)
def test_that_any_trainer_state_is_read_or_refused(history, rest):
    text = json.dumps({**rest, "log_history": history})
    check(lambda folder: (folder / "trainer_state.json").write_text(text, encoding="utf-8"))


@EXAMPLES
@given(st.lists(st.lists(SCALARS, max_size=4), max_size=5), st.lists(NAMES, min_size=1, max_size=4))
def test_that_any_csv_is_read_or_refused(rows, header):
    text = "\n".join(",".join(map(str, row)) for row in [header, *rows])
    check(lambda folder: (folder / "a.csv").write_text(text, encoding="utf-8", errors="replace"))


@EXAMPLES
@given(st.binary(max_size=300), st.sampled_from(["a.csv", "a.json", "a.jsonl", "trainer_state.json", "rank0.jsonl"]))
def test_that_any_bytes_are_read_or_refused(data, name):
    check(lambda folder: (folder / name).write_bytes(data))


@pytest.mark.parametrize("name", ["trl_two/runs/first", "trl_run/completions"])
@EXAMPLES
@given(data=st.data())
def test_that_damaged_binary_files_are_read_or_refused(name, data):
    source = next(iter(sorted((DATA / name).iterdir())))
    content = bytearray(source.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    check(lambda folder: (folder / source.name).write_bytes(bytes(content[:cut])))


@EXAMPLES
@given(st.binary(max_size=200))
def test_that_any_record_of_an_event_file_is_parsed_or_refused(data):
    try:
        event = parse_event(data)
    except (ValueError, struct.error):
        return
    assert event.step < 2**53
    assert not is_event_file(data)
