"""A window process that rates by keys until it is killed: `python -m tests.app.rating_process DATABASE RUN`.

It writes a line whenever the window counts a rating as submitted.
"""

import os
import sys
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from grpo_gui.settings import Settings
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.writer import StoreWriter
from grpo_gui.ui.background_tasks import BackgroundTasks
from grpo_gui.ui.event_pump import EventPump
from grpo_gui.ui.views.rate_view import RateView
from grpo_gui.ui.workspace import Workspace
from tests.ui.fakes import FakeLauncher


def main(path: Path, run_id: int) -> None:
    app = QApplication([])
    tasks = BackgroundTasks(lambda: StoreReader(path), StoreReader.close)
    workspace = Workspace(path, Settings(rater="mara"), tasks, EventPump(), StoreWriter.open(path), FakeLauncher())
    with StoreReader(path) as reader:
        workspace.runs = list(reader.runs())
    workspace.select_run(run_id)
    view = RateView(workspace)
    view.show()
    view.desk.stored.connect(lambda: os.write(1, b"submitted\n"))
    while True:
        app.processEvents()
        if view.desk.current is not None:
            QTest.keyClick(view, "1")
            QTest.keyClick(view, Qt.Key.Key_Return)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
