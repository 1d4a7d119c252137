import threading

import pytest
import shiboken6
from PySide6.QtCore import QObject

from grpo_gui.errors import StoreError
from grpo_gui.ui.background_tasks import BackgroundTasks


@pytest.fixture
def tasks(qapp):
    result = BackgroundTasks(object, lambda resource: None, workers=1)
    yield result
    assert result.close()


def test_that_the_result_comes_back_on_the_gui_thread(tasks, qtbot):
    seen = []
    tasks.run(
        lambda _: threading.current_thread().name,
        lambda name: seen.append((name, threading.current_thread())),
        seen.append,
    )
    qtbot.waitUntil(lambda: bool(seen))
    worker, receiver = seen[0]
    assert worker.startswith("background-")
    assert receiver is threading.main_thread()


def test_that_every_worker_opens_its_resource_once_in_its_own_thread_and_closes_it_there(qapp, qtbot):
    opened, closed, done = [], [], []
    tasks = BackgroundTasks(
        lambda: opened.append(threading.get_ident()), lambda _: closed.append(threading.get_ident()), workers=1
    )
    for _ in range(2):
        tasks.run(lambda _: 1, done.append, done.append)
    qtbot.waitUntil(lambda: len(done) == 2)
    assert tasks.close()
    assert closed == []  # `list.append` gave None as resource: nothing to close
    assert set(opened) != {threading.get_ident()}


def test_that_an_error_for_people_comes_as_its_sentence_without_traceback(tasks, qtbot):
    failures = []

    def fail(_):
        raise StoreError("The database is gone.")

    tasks.run(fail, failures.append, failures.append)
    qtbot.waitUntil(lambda: bool(failures))
    assert (failures[0].message, failures[0].traceback) == ("The database is gone.", "")


def test_that_a_bug_comes_with_its_traceback_and_the_worker_lives_on(tasks, qtbot):
    failures, results = [], []
    tasks.run(lambda _: 1 / 0, results.append, failures.append)
    tasks.run(lambda _: 7, results.append, failures.append)
    qtbot.waitUntil(lambda: bool(results))
    assert results == [7]
    assert "ZeroDivisionError" in failures[0].traceback


def test_that_only_the_newest_task_of_a_key_is_delivered(tasks, qtbot):
    gate, results = threading.Event(), []
    tasks.run(lambda _: gate.wait(10) and "first", results.append, results.append, "key")
    tasks.run(lambda _: "second", results.append, results.append, "key")
    tasks.run(lambda _: "third", results.append, results.append, "key")
    gate.set()
    qtbot.waitUntil(tasks.is_idle)
    assert results == ["third"]


def test_that_a_result_for_a_destroyed_widget_is_dropped(tasks, qtbot):
    class Receiver(QObject):
        def take(self, value):
            raise AssertionError("called after destruction")

    receiver, gate = Receiver(), threading.Event()
    tasks.run(lambda _: gate.wait(10), receiver.take, receiver.take)
    shiboken6.delete(receiver)
    gate.set()
    qtbot.waitUntil(tasks.is_idle)
