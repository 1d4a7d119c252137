"""The application: settings, theme, log, one session after another, and torch warming up beside the first one."""

import logging
import signal
import sys
import threading
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QProgressDialog

from grpo_gui import __version__
from grpo_gui.app.logs import catch_the_uncaught, start_log
from grpo_gui.app.session import OpenDatabase, Session, open_database
from grpo_gui.paths import log_folder, settings_file
from grpo_gui.settings import Settings, database_of, load, save
from grpo_gui.training.warm_up import TorchState, warm_up
from grpo_gui.ui import theme
from grpo_gui.ui.background_tasks import BackgroundTasks, TaskFailure
from grpo_gui.ui.garbage import GarbageCollector
from grpo_gui.ui.message_bar import show_bug
from grpo_gui.ui.settings_dialog import SettingsDialog

logger = logging.getLogger(__name__)

SWITCH_INTERVAL_S = 0.0001  # window and trainer hand the interpreter over soon: both wait less (docs/benchmarks.md)
WARM_UP_DELAY_MS = 150  # after the first paint
OPENING_DIALOG_MS = 600
TORCH_TIMEOUT_S = 15.0  # an import of torch cannot be cut short
MAX_BUGS_SHOWN = 3


class Desktop(QObject):
    """Owns what outlives a window: settings, theme, log, garbage collection, the thread that knows torch."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self._log_problem = start_log(log_folder())
        loaded = load(settings_file())
        self.settings = loaded.settings
        self._news = [text for text in (loaded.warning, self._log_problem) if text]
        self._torch: TorchState | None = None
        self._is_warming_up = False
        self._next: Path | None = None
        self._bugs_shown = 0
        self.session: Session | None = None
        catch_the_uncaught(self._show_bug)
        theme.apply(self.settings.theme)
        self._garbage = GarbageCollector(self)
        self._garbage.start()
        self._torch_tasks = _plain_tasks()
        self._openers = _plain_tasks()
        self._opening = QProgressDialog()
        self._opening.setWindowTitle("grpo-gui")
        self._opening.setRange(0, 0)
        self._opening.setCancelButton(None)
        self._opening.setMinimumDuration(OPENING_DIALOG_MS)
        self._opening.reset()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: QTimer.singleShot(0, self, self.end))

    def open(self, database: Path | None) -> None:
        """Open a database, or the one of the settings, and show its window."""
        path = database or database_of(self.settings)
        self._opening.setLabelText(f"Opening {path}\u2026\nOne of an older version is copied and brought up to date.")
        self._opening.setValue(0)
        self._openers.run(lambda _: open_database(path), self._opened, self._not_opened)

    def end(self) -> None:
        """Stop training, close the window and leave, without asking."""
        self._next = None
        if self.session is None:
            self._leave()
        else:
            self.session.window.close_now()

    def _opened(self, opened: OpenDatabase) -> None:
        self._opening.reset()
        self.session = session = Session(opened, self.settings, self._torch_tasks)
        session.window.closed.connect(self._window_closed)
        session.window.database_chosen.connect(self._switch_to)
        session.window.settings_requested.connect(self._edit_settings)
        session.show(self._painted)

    def _painted(self) -> None:
        for text in self._news:
            self._workspace_problem(text)
        self._news = []
        if self._torch is not None:
            self._torch_ready(self._torch)
        elif not self._is_warming_up:
            self._is_warming_up = True
            QTimer.singleShot(WARM_UP_DELAY_MS, self, self._warm_up)

    def _warm_up(self) -> None:
        self._torch_tasks.run(lambda _: warm_up(), self._torch_ready, self._torch_failed)

    def _torch_ready(self, state: TorchState) -> None:
        if self._torch is None:
            self._garbage.freeze()
        self._torch = state
        if self.session is not None:
            self.session.workspace.set_torch_ready(state.version, state.devices)

    def _torch_failed(self, failure: TaskFailure) -> None:
        logger.error("torch could not be loaded: %s\n%s", failure.message, failure.traceback)
        if self.session is not None:
            sentence = "torch and the trainer cannot be loaded, so nothing can be trained; `grpo-gui check` says more."
            self.session.workspace.set_torch_failed(sentence, failure.traceback or failure.message)

    def _workspace_problem(self, text: str) -> None:
        logger.warning("%s", text)
        if self.session is not None:
            self.session.workspace.problem.emit(text, "")

    def _not_opened(self, failure: TaskFailure) -> None:
        self._opening.reset()
        logger.warning("%s\n%s", failure.message, failure.traceback)
        box = QMessageBox(QMessageBox.Icon.Warning, "grpo-gui", failure.message)
        other = box.addButton("Another database\u2026", QMessageBox.ButtonRole.AcceptRole)
        box.addButton("Quit", QMessageBox.ButtonRole.RejectRole)
        box.exec()
        path = ""
        if box.clickedButton() is other:
            path, _ = QFileDialog.getSaveFileName(
                None,
                "Open or create a database",
                "",
                "Databases (*.db);;All files (*)",
                options=QFileDialog.Option.DontConfirmOverwrite,
            )
        if path:
            self.open(Path(path))
        else:
            self._leave(1)

    def _switch_to(self, database: Path) -> None:
        if self.session is None:
            return
        self._next = database
        if not self.session.window.close() and not self.session.window.guard.is_waiting:
            self._next = None  # the user chose to stay

    def _window_closed(self) -> None:
        QTimer.singleShot(0, self, self._end_session)

    def _end_session(self) -> None:
        if self.session is not None:
            self.session.close()
            self.session = None
        following, self._next = self._next, None
        if following is not None:
            self.open(following)
        else:
            self._leave()

    def _leave(self, code: int = 0) -> None:
        self._openers.close()
        self._torch_tasks.close(TORCH_TIMEOUT_S)
        self._garbage.stop()
        sys.excepthook = sys.__excepthook__
        self._app.exit(code)

    def _edit_settings(self) -> None:
        if self.session is None:
            return
        devices = self._torch.devices if self._torch is not None else ()
        dialog = SettingsDialog(
            self.session.window, self.settings, devices, lambda settings: save(settings, settings_file())
        )
        dialog.saved.connect(self._use_settings)
        dialog.exec()
        dialog.deleteLater()

    def _use_settings(self, settings: Settings) -> None:
        if settings.theme != self.settings.theme:
            theme.apply(settings.theme)
        self.settings = settings
        if self.session is not None:
            self.session.workspace.use_settings(settings)

    def _show_bug(self, sentence: str, details: str) -> None:
        """Show the first few: a slot that fails thirty times a second must not bury the screen."""
        if threading.current_thread() is threading.main_thread() and self._bugs_shown < MAX_BUGS_SHOWN:
            self._bugs_shown += 1
            show_bug(self.session.window if self.session is not None else None, sentence, details)


def run_desktop(database: Path | None) -> int:
    """Run the window until it is closed; return the exit code."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    app = QApplication(sys.argv[:1])
    app.setApplicationName("grpo-gui")
    app.setApplicationVersion(__version__)
    app.setQuitOnLastWindowClosed(False)
    desktop = Desktop(app)
    QTimer.singleShot(0, desktop, lambda: desktop.open(database))
    return app.exec()


def _plain_tasks() -> BackgroundTasks[None]:
    return BackgroundTasks(lambda: None, lambda _: None, workers=1)
