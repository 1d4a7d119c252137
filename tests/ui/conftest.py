"""What all tests of the window share: an offscreen application in the light theme, no thread or timer left over."""

import os
import threading
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

from PySide6.QtWidgets import QApplication

from grpo_gui.settings import Settings
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.writer import StoreWriter
from grpo_gui.ui import theme
from grpo_gui.ui.background_tasks import BackgroundTasks
from grpo_gui.ui.event_pump import EventPump
from grpo_gui.ui.plot_style import configure_pyqtgraph
from grpo_gui.ui.workspace import Workspace
from tests.garbage import on_the_main_thread
from tests.ui.fakes import FakeLauncher, FakeReader, FakeWriter


def pytest_collection_modifyitems(items):
    for item in items:
        if "/tests/ui/" in item.path.as_posix():
            item.add_marker(pytest.mark.qt_log_ignore(r"This plugin does not support (propagateSizeHints|raise)\("))


@pytest.fixture(autouse=True)
def _styled(qapp: QApplication):
    if theme.current().is_dark or not qapp.styleSheet():  # applying it again costs a quarter of a second
        theme.apply("light")
        configure_pyqtgraph()


_garbage = pytest.fixture(autouse=True)(on_the_main_thread)


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    before = set(threading.enumerate())
    yield
    left = [thread for thread in threading.enumerate() if thread not in before]
    assert not left, f"threads left running: {left}"


@pytest.fixture
def fake_reader():
    """The records that every reader of the `workspace` fixture serves; change them in the test."""
    return FakeReader()


@pytest.fixture
def launcher():
    return FakeLauncher()


@pytest.fixture
def pump(qapp):
    return EventPump()


@pytest.fixture
def workspace(qapp, tmp_path: Path, fake_reader, launcher, pump):
    """A workspace over fakes. Put events in through `pump.put(event); pump.drain()`."""
    tasks = BackgroundTasks(lambda: fake_reader, lambda reader: None)
    result = Workspace(tmp_path / "test.db", Settings(), tasks, pump, FakeWriter(fake_reader), launcher)
    yield result
    result.close()
    pump.stop()
    assert tasks.close()


@pytest.fixture
def writer(tmp_path):
    """The writer of a real store."""
    result = StoreWriter.open(tmp_path / "runs.db")
    yield result
    result.close()


@pytest.fixture
def stored(qapp, tmp_path, writer, pump):
    """A workspace over the real store."""
    path = tmp_path / "runs.db"
    tasks = BackgroundTasks(lambda: StoreReader(path), lambda reader: reader.close())
    result = Workspace(path, Settings(), tasks, pump, writer, FakeLauncher())
    yield result
    result.close()
    pump.stop()
    assert tasks.close()
