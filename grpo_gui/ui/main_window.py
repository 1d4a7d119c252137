"""The main window: menus, tool bar, rail, the views, status bar. It lays out and connects."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from grpo_gui.store.records import RunRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui import theme
from grpo_gui.ui.about import show_about
from grpo_gui.ui.closing import CloseGuard
from grpo_gui.ui.keys_overlay import KeysOverlay
from grpo_gui.ui.lateness import LatenessMeter
from grpo_gui.ui.menus import Entry, fill_menus
from grpo_gui.ui.message_bar import MessageBar
from grpo_gui.ui.models.branch_point import BranchPoint
from grpo_gui.ui.opening import open_folder, open_log_folder
from grpo_gui.ui.rail import Rail
from grpo_gui.ui.rate_badge import RateBadge
from grpo_gui.ui.run_imports import RunImports, dropped_paths
from grpo_gui.ui.run_text import run_title
from grpo_gui.ui.snapshot_notice import SnapshotNotice
from grpo_gui.ui.status_bar import StatusBar
from grpo_gui.ui.tool_bar import ToolBar
from grpo_gui.ui.train_page import TrainPage
from grpo_gui.ui.transport import Transport
from grpo_gui.ui.view_list import VIEWS, key_of
from grpo_gui.ui.views.run_form import RunForm
from grpo_gui.ui.widgets.confirm_file import ask_for
from grpo_gui.ui.widgets.job_strip import JobStrip
from grpo_gui.ui.window_state import WindowState
from grpo_gui.ui.workspace import Workspace

MINIMUM_SIZE = (960, 600)
DEFAULT_SIZE = (1440, 900)


@dataclass(frozen=True, slots=True)
class ViewMakers:
    """Views are made at their first use, so that the window is on screen before they are built."""

    train: Callable[[Workspace], QWidget]
    completions: Callable[[Workspace], tuple[QWidget, Callable[[], None]]]  # the view, and what focuses its search
    others: Mapping[str, Callable[[Workspace], QWidget]] = field(default_factory=dict)  # by name, see view_list


class MainWindow(QMainWindow):
    """One window on one database."""

    closed = Signal()
    database_chosen = Signal(Path)
    settings_requested = Signal()

    def __init__(self, workspace: Workspace, form: RunForm, makers: ViewMakers, state: WindowState) -> None:
        super().__init__()
        self.workspace = workspace
        self._makers, self._state = makers, state
        self._may_close = False
        self._focus_search: Callable[[], None] | None = None
        self._views: dict[str, QWidget] = {}
        self.meter = LatenessMeter(self)
        self.form = form
        self.train = TrainPage(workspace, form, makers.train)
        self.transport = Transport(workspace)
        self.tools = ToolBar(workspace, self.transport)
        self.rail = Rail()
        self._badge = RateBadge(workspace, self.rail)
        self.pages = QStackedWidget()
        self.messages = MessageBar()
        self.jobs = JobStrip()
        self.imports = RunImports(workspace, self.jobs, self)
        self._snapshots = SnapshotNotice(workspace, self.transport, self.jobs, partial(self.show_view, "snapshots"))
        self.status = StatusBar(workspace, self.meter)
        self.keys = KeysOverlay(self)
        self.guard = CloseGuard(workspace, self)
        self._lay_out()
        fill_menus(self.menuBar(), self.transport, self._entries())
        self._connect()
        self._show_title(workspace.run)
        self.form.setFocus()
        self.meter.start()

    # --- views

    def show_view(self, name: str) -> None:
        """Bring a view to the front."""
        if name not in self._views:
            self._views[name] = self._make_view(name)
            self.pages.addWidget(self._views[name])
            self._state.restore_splitters(self)
        self.pages.setCurrentWidget(self._views[name])
        self._focus_view(self._views[name])
        self.rail.show_chosen(name)
        self.keys.view = name
        self._search.setEnabled(name not in ("completions", "runs"))  # they have the same key of their own
        self._tell_transport()

    def _focus_view(self, view: QWidget) -> None:
        """Give the keys to what a view is for; Qt would choose its first button, and the space bar would press it."""
        if view is self.train and self.train.shows_form:
            self.form.setFocus()
        elif view.focusProxy() is not None or view.focusPolicy() is not Qt.FocusPolicy.NoFocus:
            view.setFocus()

    def _make_view(self, name: str) -> QWidget:
        if name == "completions":
            view, self._focus_search = self._makers.completions(self.workspace)
            return view
        return self._makers.others[name](self.workspace)

    def search(self) -> None:
        """Go to the Completions view's search field."""
        self.show_view("completions")
        if self._focus_search is not None:
            self._focus_search()

    def show_new_run(self) -> None:
        """Show the form; no run is selected meanwhile, and starting one selects it."""
        self.show_view("train")
        if self.form.draft.branch is not None:
            self.form.draft.use_branch(None)
        self.workspace.select_run(None)
        self.form.setFocus()

    def show_new_run_like_this(self) -> None:
        """Show the form filled in with the settings of the selected run."""
        config = self.workspace.selected_config()
        self.show_new_run()
        if config is not None:
            self.form.draft.use_config(config)

    def show_form_with(self, config: TrainConfig) -> None:
        """Show the form filled in with given settings."""
        self.show_new_run()
        self.form.draft.use_config(config)

    def show_branch(self, branch: BranchPoint) -> None:
        """Show the form for a run that begins in a snapshot of another one."""
        self.show_new_run()
        self.form.draft.use_branch(branch)

    # --- layout

    def _lay_out(self) -> None:
        self.setMinimumSize(*MINIMUM_SIZE)
        self.setAcceptDrops(True)
        wanted = QSize(theme.px(DEFAULT_SIZE[0]), theme.px(DEFAULT_SIZE[1]))
        self.resize(wanted.boundedTo(self.screen().availableSize()))  # not every window manager keeps it on screen
        self.addToolBar(Qt.ToolBarArea.TopToolBarArea, self.tools)
        self._views["train"] = self.train
        self.pages.addWidget(self.train)
        self.rail.show_chosen("train")
        center = QWidget()
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addWidget(self.messages)
        column.addWidget(self.jobs)
        column.addWidget(self.pages, 1)
        row = QHBoxLayout(center)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.rail)
        row.addLayout(column, 1)
        self.setCentralWidget(center)
        self.setStatusBar(self.status)
        self._state.restore(self)
        self._search = QShortcut(QKeySequence("/"), self, self.search)
        QShortcut(QKeySequence("Space"), self, self.transport.toggle_pause)

    def _entries(self) -> dict[str, list[Entry | None]]:
        database = self.workspace.database
        return {
            "&File": [
                ("New run\u2026", "Ctrl+N", self.show_new_run),
                ("New run with these settings\u2026", "Ctrl+Shift+N", self.show_new_run_like_this),
                ("Import or follow a run\u2026", "Ctrl+I", self.imports.choose),
                ("Open database\u2026", "Ctrl+O", self._choose_database),
                ("Show database in its folder", "", lambda: open_folder(database.parent)),
                None,
                ("Settings\u2026", "Ctrl+,", self.settings_requested.emit),
                None,
                ("Quit", "Ctrl+Q", self.close),
            ],
            "&Run": [],
            "&View": [
                *((title, key_of(name), partial(self.show_view, name)) for name, title in VIEWS),
                None,
                ("Search completions", "", self.search),
            ],
            "&Window": [
                ("Minimize", "Ctrl+M", self.showMinimized),
                ("Full screen", "F11", self._toggle_full_screen),
                None,
                ("Close", "Ctrl+W", self.close),
            ],
            "&Help": [
                ("Keys", "?", self.keys.toggle),
                ("Open log folder", "", open_log_folder),
                None,
                ("About grpo-gui", "", lambda: show_about(self, self.workspace.torch_version, str(database))),
            ],
        }

    def _connect(self) -> None:
        workspace, transport = self.workspace, self.transport
        self.rail.chosen.connect(self.show_view)
        self.rail.settings_clicked.connect(self.settings_requested)
        self.form.database_requested.connect(self._choose_database)
        self.form.import_requested.connect(self.imports.choose)
        self.form.validity_changed.connect(self._tell_transport)
        self.status.keys.clicked.connect(self.keys.toggle)
        self.train.form_shown.connect(self._tell_transport)
        self.train.view_made.connect(lambda: self._state.restore_splitters(self))
        transport.start_requested.connect(lambda one: self.form.submit(only_one_step=one))
        self.guard.may_close.connect(self.close_now)
        workspace.view_requested.connect(self.show_view)
        workspace.keys_requested.connect(self.keys.toggle)
        workspace.new_run_requested.connect(self.show_new_run)
        workspace.branch_requested.connect(self.show_branch)
        workspace.form_asked.connect(self.show_form_with)
        workspace.run_selected.connect(self._show_title)
        workspace.run_updated.connect(self._show_title)
        workspace.problem.connect(self._show_problem)
        workspace.notice.connect(lambda sentence, details: self.messages.show_message(sentence, details, "warn"))
        workspace.confirmation_needed.connect(self._confirm_files)
        workspace.failed.connect(self._show_problem)
        self._tell_transport()

    # --- reactions

    def _tell_transport(self) -> None:
        is_open = self.train.shows_form and self.pages.currentWidget() is self.train
        self.transport.set_form(is_open=is_open, is_valid=self.form.is_valid)

    def _show_title(self, run: RunRecord | None) -> None:
        title = "grpo-gui" if run is None else f"{run_title(run)} \u2013 grpo-gui"
        if self.windowTitle() != title:
            self.setWindowTitle(title)

    def _show_problem(self, sentence: str, details: str) -> None:
        self.messages.show_message(sentence, details, "bad" if details else "warn")

    def _confirm_files(self, paths: list[Path], retry: Callable[[], None]) -> None:
        sentence = ask_for(paths, self)
        if sentence is None:
            retry()
        elif sentence:
            self._show_problem(sentence, "")

    def _choose_database(self) -> None:
        folder = str(self.workspace.database.parent)
        path, _ = QFileDialog.getSaveFileName(
            self,
            "Open or create a database",
            folder,
            "Databases (*.db);;All files (*)",
            options=QFileDialog.Option.DontConfirmOverwrite,
        )
        if path:
            self.database_chosen.emit(Path(path))

    def _toggle_full_screen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    # --- runs made elsewhere

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files and folders of this machine."""
        if dropped_paths(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Import what was dropped."""
        self.imports.start(dropped_paths(event.mimeData()))
        event.acceptProposedAction()

    # --- closing

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the overlay in the middle."""
        super().resizeEvent(event)
        self.keys.hide()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask while a run would be cut off; remember the layout."""
        if not self._may_close and self.guard.asks():
            event.ignore()
            return
        self._state.save(self)
        self.meter.stop()
        event.accept()
        self.closed.emit()

    def close_now(self) -> None:
        """Close without asking."""
        self._may_close = True
        self.close()
