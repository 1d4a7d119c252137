"""Garbage of Qt objects is collected on the main thread, as in the process of the window."""

import gc
from collections.abc import Iterator

from PySide6.QtCore import QObject

from grpo_gui.ui.garbage import GarbageCollector

_owner = QObject()
_collector = GarbageCollector(_owner)


def on_the_main_thread() -> Iterator[None]:
    """The body of a fixture: no automatic collection in a test, whose background threads would destroy widgets."""
    gc.disable()
    yield
    _collector.look()
    gc.enable()
