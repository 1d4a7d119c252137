"""A window that is killed while a person rates: what was submitted is there, and can be taken back."""

import subprocess
import sys

from grpo_gui.events import GroupSample
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.writer import StoreWriter
from tests.ui.fakes import completion, step_completed
from tests.ui.stored_run import stored_run

GROUPS = 60
KILLED_AFTER = 25


def test_that_a_kill_loses_no_submitted_rating(tmp_path):
    path = tmp_path / "runs.db"
    writer = StoreWriter.open(path)
    run_id = stored_run(writer)
    for step in range(1, GROUPS + 1):
        samples = tuple(completion(place, text=f"answer {place}") for place in range(4))
        writer.emit(step_completed(run_id, step, (GroupSample(0, "compare", f"p {step}", None, (0,), samples),)))
    assert writer.flush(10)
    writer.close()
    command = [sys.executable, "-m", "tests.app.rating_process", str(path), str(run_id)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        told = 0
        while told < KILLED_AFTER and process.stdout.readline().startswith("submitted"):
            told += 1
        process.kill()
        told += process.stdout.read().count("submitted")
    assert told >= KILLED_AFTER
    with StoreReader(path) as reader:
        stored = reader.group_ratings(run_id)
    assert len(stored) >= told
    first = [one.event.group for one in stored if not one.event.is_repeat]
    assert len(set(first)) == len(first)
