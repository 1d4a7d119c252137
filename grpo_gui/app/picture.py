"""A picture of a run's dashboard, drawn without a screen."""

import os
import time
from importlib.metadata import version
from pathlib import Path

PICTURE_SIZE = (1440, 900)
TIMEOUT_S = 30.0  # a run without any step has nothing to wait for


def save_dashboard(database: Path, run_id: int, path: Path) -> None:
    """Draw the Train view of a stored run and write it to `path` (PNG). No QApplication may exist yet.

    Raises:
        StoreError: another window shows the database, or it cannot be used.
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtCore import qInstallMessageHandler
    from PySide6.QtWidgets import QApplication

    from grpo_gui.app.session import Session, open_database
    from grpo_gui.settings import Settings
    from grpo_gui.ui import theme
    from grpo_gui.ui.background_tasks import BackgroundTasks
    from grpo_gui.ui.views.train_view import TrainView

    # The offscreen platform complains about what only a window manager could do.
    qInstallMessageHandler(lambda *_: None)
    app = QApplication([])
    theme.apply("light")
    no_torch = BackgroundTasks(lambda: None, lambda _: None, workers=1)
    session = Session(open_database(database), Settings(), no_torch)
    session.window.resize(*PICTURE_SIZE)
    session.workspace.set_torch_ready(version("torch"), ())
    session.show(lambda: session.workspace.select_run(run_id))
    deadline_s = time.monotonic() + TIMEOUT_S
    view: TrainView | None = None
    while time.monotonic() < deadline_s and not (view and view.model.newest and session.tasks.is_idle()):
        app.processEvents()
        view = view or session.window.findChild(TrainView)
        time.sleep(0.005)
    if view is not None:
        view.plots.clock.draw_all()
    app.processEvents()
    path.parent.mkdir(parents=True, exist_ok=True)
    session.window.grab().save(str(path))
    session.window.hide()
    session.close()
    no_torch.close()
    app.processEvents()
