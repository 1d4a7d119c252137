"""Following a run from the window, over a real store and a file that grows."""

import json
import threading

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from grpo_gui.errors import BadInputError
from grpo_gui.events import RunStatus
from grpo_gui.outside.following import Follower
from grpo_gui.store.reader import StoreReader
from grpo_gui.ui.run_imports import RunImports
from grpo_gui.ui.widgets.job_strip import JobStrip


@pytest.fixture
def imports(stored, qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    strip = JobStrip()
    qtbot.addWidget(strip)
    made = RunImports(stored, strip, window)
    made.strip = strip
    yield made
    made.following.close()


def log(path, *steps):
    with path.open("a") as file:
        for step in steps:
            file.write(json.dumps({"step": step, "reward": 0.1 * step, "kl": 0.01}) + "\n")


def follow(imports, qtbot, path):
    """Follow a place as a person does."""
    imports.choose(follow=True)
    qtbot.keyClicks(imports.dialog.field, str(path))
    qtbot.mouseClick(imports.dialog.act, Qt.MouseButton.LeftButton)


def points(stored, run_id):
    with StoreReader(stored.database) as reader:
        return list(reader.points(run_id, "reward").steps)


def status(stored, run_id):
    with StoreReader(stored.database) as reader:
        return reader.run(run_id).status


def test_that_a_run_that_goes_on_is_shown_and_grows_until_following_is_ended(imports, stored, writer, tmp_path, qtbot):
    path = tmp_path / "metrics.jsonl"
    log(path, 1, 2)
    with qtbot.waitSignal(stored.view_requested, timeout=10_000) as view:
        follow(imports, qtbot, path)
    assert view.args == ["train"]
    qtbot.waitUntil(lambda: stored.run is not None)
    run_id = stored.run.id
    assert imports.strip.words.text() == f"Run {run_id} follows {path}."
    log(path, 3)
    qtbot.waitUntil(lambda: points(stored, run_id) == [1, 2, 3], timeout=10_000)
    imports.choose()
    stop = next(one for one in imports.dialog.findChildren(QPushButton) if one.text() == "Stop following")
    with qtbot.waitSignal(imports.following.ended, timeout=10_000):
        qtbot.mouseClick(stop, Qt.MouseButton.LeftButton)
    imports.dialog.reject()
    assert imports.following.names == ()
    assert imports.strip.words.text() == f"{path} is no longer followed."
    assert writer.flush(10)
    assert status(stored, run_id) is RunStatus.INTERRUPTED


def test_that_a_place_may_come_later_and_is_followed_once(imports, stored, tmp_path, qtbot):
    path = tmp_path / "later" / "metrics.jsonl"
    with qtbot.waitSignal(imports.following.begun):
        follow(imports, qtbot, path)
    assert "as soon as it has a step" in imports.strip.words.text()
    with qtbot.waitSignal(stored.problem) as problem:
        follow(imports, qtbot, path)
    assert problem.args[0] == f"{path} is followed already."
    path.parent.mkdir()
    with qtbot.waitSignal(imports.following.found, timeout=10_000):
        log(path, 1)


def test_that_a_bad_address_is_a_sentence(imports, stored, qtbot):
    with qtbot.waitSignal(stored.problem) as problem:
        follow(imports, qtbot, "http://host/run")
    assert "ssh://host/path" in problem.args[0]
    assert imports.following.names == ()


def test_that_a_place_that_another_process_reads_is_not_followed(imports, stored, tmp_path, qtbot, monkeypatch):
    def claimed(run_id):
        raise BadInputError(f"Run {run_id} is being read from there already.")

    path = tmp_path / "metrics.jsonl"
    log(path, 1)
    with qtbot.waitSignal(imports.following.found, timeout=10_000) as found:
        follow(imports, qtbot, path)
    imports.following.stop(str(path))
    qtbot.waitUntil(lambda: imports.following.names == ())
    monkeypatch.setattr(stored._writer, "take_outside_run", claimed)
    with qtbot.waitSignal(stored.problem) as problem:
        follow(imports, qtbot, path)
    assert problem.args[0] == f"{path} is not followed: Run {found.args[1]} is being read from there already."
    assert imports.following.names == ()


def test_that_closing_the_database_ends_following(imports, stored, writer, tmp_path, qtbot):
    path = tmp_path / "metrics.jsonl"
    log(path, 1)
    with qtbot.waitSignal(imports.following.found, timeout=10_000) as found:
        follow(imports, qtbot, path)
    ended = []
    imports.following.ended.connect(lambda *told: ended.append(told))
    stored.closing.emit()
    assert imports.following.names == ()
    QCoreApplication.processEvents()  # what the thread said last finds no database any more
    assert ended == []
    assert writer.flush(10)
    assert status(stored, found.args[1]) is RunStatus.INTERRUPTED


def test_that_a_place_can_be_followed_again_after_a_bug_of_ours(imports, tmp_path, qtbot, monkeypatch):
    path = tmp_path / "metrics.jsonl"
    log(path, 1)
    reported = []
    monkeypatch.setattr(threading, "excepthook", lambda arguments: reported.append(arguments.exc_type))
    monkeypatch.setattr(Follower, "run", lambda follower, stop: 1 // 0)
    with qtbot.waitSignal(imports.following.ended, timeout=10_000):
        follow(imports, qtbot, path)
    assert imports.following.names == ()
    assert reported == [ZeroDivisionError]
    monkeypatch.undo()
    with qtbot.waitSignal(imports.following.found, timeout=10_000):
        follow(imports, qtbot, path)
