"""One open database with its window: writer, readers, event pump, workspace, trainer, previews."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

from grpo_gui.app.launcher import Launcher
from grpo_gui.app.snapshot_engine import SnapshotWorker
from grpo_gui.events import GroupSample
from grpo_gui.handover.placement import Placement
from grpo_gui.paths import window_state_file
from grpo_gui.settings import Settings
from grpo_gui.store.lock import WindowLock
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import RunRecord
from grpo_gui.store.writer import StoreWriter
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.data_preview import preview_data
from grpo_gui.training.data_rows import DataPreview
from grpo_gui.training.preview import preview
from grpo_gui.ui import theme
from grpo_gui.ui.alerts import Alerts, DesktopNotifier
from grpo_gui.ui.background_tasks import BackgroundTasks, TaskFailure
from grpo_gui.ui.event_pump import EventPump
from grpo_gui.ui.health_watch import HealthWatch
from grpo_gui.ui.main_window import MainWindow, ViewMakers
from grpo_gui.ui.run_config import config_of
from grpo_gui.ui.trl_start import HandedOver
from grpo_gui.ui.views.run_form import RunForm
from grpo_gui.ui.window_state import WindowState
from grpo_gui.ui.workspace import Workspace

if TYPE_CHECKING:
    from grpo_gui.app.router_engine import RouterWorker

STOP_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """A database that is locked for this window and open for writing, with its runs."""

    path: Path
    lock: WindowLock
    writer: StoreWriter
    runs: list[RunRecord]


def open_database(path: Path) -> OpenDatabase:
    """Lock and open a database; a migration may take minutes, so call it off the GUI thread.

    Raises:
        StoreError: another window shows it, or it cannot be used; it is left as it was.
    """
    with ExitStack() as undo:
        lock = WindowLock(path)
        lock.acquire()
        undo.callback(lock.release)
        writer = StoreWriter.open(path)
        undo.callback(writer.close)
        with StoreReader(path) as reader:
            runs = list(reader.runs())
        undo.pop_all()
    return OpenDatabase(path, lock, writer, runs)


class Session(QObject):
    """Lives from opening a database to closing its window. `torch_tasks` is shared: torch is loaded once."""

    def __init__(self, opened: OpenDatabase, settings: Settings, torch_tasks: BackgroundTasks[None]) -> None:
        super().__init__()
        self._opened, self._torch_tasks = opened, torch_tasks
        self.pump = EventPump()
        self.tasks = BackgroundTasks(lambda: StoreReader(opened.path), StoreReader.close)
        self._launcher = Launcher(opened.path, opened.writer, self.pump)
        self.workspace = Workspace(opened.path, settings, self.tasks, self.pump, opened.writer, self._launcher)
        self.workspace.runs = opened.runs
        self._health = HealthWatch(self.workspace)
        self._snapshots = SnapshotWorker(self._threads)
        self._router: RouterWorker | None = None  # made with its view: few look at it at once
        form = RunForm(self.workspace, self._sample, self._read_data, self._hand_over)
        others = {
            "rate": _make_rate_view,
            "router": self._make_router_view,
            "runs": _make_runs_view,
            "snapshots": self._make_snapshots_view,
        }
        makers = ViewMakers(self._make_train_view, _make_completions_view, others)
        self.window = MainWindow(self.workspace, form, makers, WindowState(window_state_file()))
        self._alerts = Alerts(self.workspace, self._health, self.window, DesktopNotifier(self.window))

    def show(self, painted: Callable[[], None]) -> None:
        """Show the window; after its first paint select the newest run and call `painted`."""

        def first_paint() -> None:
            self.pump.start()
            self.workspace.refresh_runs()
            shown = next((run for run in self._opened.runs if run.status.is_active), None)
            if self._opened.runs:
                self.workspace.select_run((shown or self._opened.runs[0]).id)
            painted()

        _FirstPaint(self.window, first_paint)
        self.window.show()

    def close(self) -> None:
        """End trainer, readers and writer, in the order in which they need each other."""
        self.workspace.close()
        if self.workspace.handle is not None:
            self.workspace.handle.stop(STOP_TIMEOUT_S)
        self.pump.stop()
        self._snapshots.close()
        if self._router is not None:
            self._router.close()
        self.tasks.close()
        self._opened.writer.close()
        self._opened.lock.release()
        self.window.deleteLater()

    def _threads(self) -> int:
        """Threads that torch uses: those of the run that trains here, whose numbers depend on them."""
        config = config_of(self.workspace.trained_run)
        return self.workspace.settings.threads if config is None else config.threads

    def _make_train_view(self, workspace: Workspace) -> QWidget:
        _prepare_plots()
        from grpo_gui.ui.views.train_view import TrainView

        return TrainView(workspace, self._health)

    def _make_snapshots_view(self, workspace: Workspace) -> QWidget:
        _prepare_plots()
        from grpo_gui.ui.views.snapshots_view import SnapshotsView

        return SnapshotsView(workspace, self._snapshots)

    def _make_router_view(self, workspace: Workspace) -> QWidget:
        _prepare_plots()
        from grpo_gui.app.router_engine import RouterWorker
        from grpo_gui.ui.views.router_view import RouterView

        device = workspace.settings.device
        self._router = RouterWorker(self._opened.path, self._opened.writer, self._threads, device)
        return RouterView(workspace, self._router)

    def _sample(
        self,
        config: TrainConfig,
        seed: int,
        done: Callable[[GroupSample], None],
        failed: Callable[[TaskFailure], None],
    ) -> None:
        self._torch_tasks.run(lambda _: preview(config, seed), done, failed, "preview")

    def _read_data(
        self, config: TrainConfig, done: Callable[[DataPreview], None], failed: Callable[[TaskFailure], None]
    ) -> None:
        self._torch_tasks.run(lambda _: preview_data(config), done, failed, "data")

    def _hand_over(
        self,
        config: TrainConfig,
        place: Placement,
        accelerate: str,
        done: Callable[[HandedOver], None],
        failed: Callable[[TaskFailure], None],
    ) -> None:
        self.tasks.run(lambda _: self._launcher.start_with_trl(config, place, accelerate), done, failed)


class _FirstPaint(QObject):
    """Calls a function once, right after a window was painted for the first time."""

    def __init__(self, window: QWidget, function: Callable[[], None]) -> None:
        super().__init__(window)
        self._window, self._function = window, function
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Wait for the paint event."""
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            QTimer.singleShot(0, self._function)
        return super().eventFilter(watched, event)


def _make_runs_view(workspace: Workspace) -> QWidget:
    _prepare_plots()
    from grpo_gui.ui.views.runs_view import RunsView

    return RunsView(workspace)


def _make_completions_view(workspace: Workspace) -> tuple[QWidget, Callable[[], None]]:
    _prepare_plots()
    from grpo_gui.ui.views.completions_view import CompletionsView

    view = CompletionsView(workspace)
    return view, view.list.filters.focus_search


def _make_rate_view(workspace: Workspace) -> QWidget:
    _prepare_plots()
    from grpo_gui.ui.views.rate_view import RateView

    return RateView(workspace)


def _prepare_plots() -> None:
    """Import pyqtgraph only now, after the window is on screen, and let it follow the theme."""
    from grpo_gui.ui.plot_style import configure_pyqtgraph

    configure_pyqtgraph()
    theme.signals.changed.connect(configure_pyqtgraph)
