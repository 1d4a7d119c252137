import gc
import threading
import weakref
from typing import ClassVar

import pytest
from PySide6.QtCore import QObject

from grpo_gui.ui.garbage import INTERVAL_MS, YOUNG_LIMIT, GarbageCollector


@pytest.fixture
def collector(qapp):
    owner = QObject()
    result = GarbageCollector(owner)
    result.start()
    yield result
    result.stop()


class Node:
    """Half of a cycle that notes which thread destroys it."""

    destroyed_by: ClassVar[list[threading.Thread]] = []

    def __init__(self):
        self.partner = self

    def __del__(self):
        Node.destroyed_by.append(threading.current_thread())


def test_that_python_does_not_collect_by_itself_meanwhile(collector):
    assert not gc.isenabled()
    collector.stop()
    assert gc.isenabled()


def test_that_cycles_made_on_another_thread_are_destroyed_on_the_gui_thread(collector, qtbot):
    Node.destroyed_by.clear()
    kept = []

    def allocate():
        Node()
        kept.extend([] for _ in range(3 * YOUNG_LIMIT))

    thread = threading.Thread(target=allocate)
    thread.start()
    thread.join()
    assert Node.destroyed_by == []
    qtbot.waitUntil(lambda: bool(Node.destroyed_by), timeout=20 * INTERVAL_MS)
    assert Node.destroyed_by == [threading.main_thread()]


def test_that_a_quiet_program_is_left_alone(collector):
    gc.collect()
    node = Node()
    reference = weakref.ref(node)
    del node
    collector.look()
    assert reference() is not None
    gc.collect()
    assert reference() is None
