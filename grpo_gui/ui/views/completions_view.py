"""The Completions view: every completion of a run, searchable and sortable, with the detail of one beside it."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import ChangeRecord, CompletionRef, CompletionRow, GroupRecord, GroupRef, RunRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.models.clip_bounds import clip_bounds
from grpo_gui.ui.run_config import settings_of
from grpo_gui.ui.widgets.completion_detail import CompletionDetail
from grpo_gui.ui.widgets.completion_list import CompletionList
from grpo_gui.ui.widgets.empty_state import EmptyState
from grpo_gui.ui.workspace import Workspace

_DETAIL_WIDTH = 478
_SMALL_DETAIL_WIDTH = 440
_ROOMY_WIDTH = 1240
_SIDE_BY_SIDE_WIDTH = 980  # below it, list and detail take turns

GroupAnswer = tuple[CompletionRef, GroupRecord | None, tuple[ChangeRecord, ...]]


class CompletionsView(QWidget):
    """Lays out list and detail and reads the group of the chosen completion."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._config = TrainConfig()
        self._group: GroupRecord | None = None
        self._changes: tuple[ChangeRecord, ...] = ()
        self._wanted: CompletionRef | None = None
        self._is_detail_open = False
        self._is_laid_out = False
        self.list = CompletionList(workspace)
        self.detail = CompletionDetail()
        self.no_run = EmptyState("No run is selected, so there are no completions.", "Set up a run")
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._pages = QStackedWidget()
        self._lay_out()
        self._connect()
        self._show_run(workspace.run)

    def open_completion(self, ref: CompletionRef) -> None:
        """Show a completion in the detail, and in the list, which looks for it while it is on screen."""
        is_here = self.list.seek(ref) if self.isVisible() else self.list.reveal(ref)
        if not is_here and ref != self.detail.ref:
            self._read_group(ref)
        self._is_detail_open = self._is_detail_open or self.isVisible()
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show list and detail side by side, or one of them where there is no room."""
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        """Divide the width when it is known."""
        super().showEvent(event)
        self._arrange()

    def _lay_out(self) -> None:
        self._splitter.addWidget(self.list)
        self._splitter.addWidget(self.detail)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setStretchFactor(1, 0)
        self._splitter.setHandleWidth(tokens.GAP)
        self._splitter.setChildrenCollapsible(False)
        self.list.setMinimumWidth(theme.px(420))
        self.detail.setMinimumWidth(theme.px(_SMALL_DETAIL_WIDTH))
        self.setFocusProxy(self.list.table)
        self._pages.addWidget(self._splitter)
        self._pages.addWidget(self.no_run)
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 8, 8, 8)
        box.addWidget(self._pages)

    def _connect(self) -> None:
        workspace = self._workspace
        workspace.run_selected.connect(self._show_run)
        workspace.run_updated.connect(self._update_run)
        workspace.completion_selected.connect(self.open_completion)
        workspace.completions_asked.connect(self.list.set_query)
        self.no_run.clicked.connect(workspace.new_run_requested)
        self.list.restarted.connect(self._restarted)
        self.list.table.chosen.connect(self._chosen)
        self.list.table.opened.connect(self._open_detail)
        self.detail.curve_requested.connect(self._show_curve)
        for keys, function in (
            ("/", self.list.filters.focus_search),
            ("J", lambda: self.list.table.step(1)),
            ("K", lambda: self.list.table.step(-1)),
            ("G", self.list.toggle_grouping),
        ):
            _shortcut(self, keys, function)
        self._back = _shortcut(self, "Escape", self._close_detail)

    def _show_run(self, run: RunRecord | None) -> None:
        self._config = settings_of(run)
        self._group, self._wanted = None, None
        self._is_detail_open = False
        self.detail.clear()
        self.list.show_run(run, self._config.num_generations)
        self._pages.setCurrentIndex(1 if run is None else 0)
        self._arrange()

    def _update_run(self, run: RunRecord) -> None:
        self.list.update_run(run)

    def _restarted(self) -> None:
        """Keep the chosen completion, or choose the first one, so that the detail is never empty without need."""
        if self._wanted is None:
            self.list.table.step(1)
        else:
            self.list.table.mark(self.list.model.index_of(self._wanted))

    def _chosen(self, row: CompletionRow) -> None:
        if self._group is not None and self._group.ref == row.ref.group:
            self._show(row.ref)
        else:
            self._read_group(row.ref)

    def _read_group(self, ref: CompletionRef) -> None:
        self._wanted = ref

        def read(reader: StoreReader) -> GroupAnswer:
            return ref, reader.group(ref.group), reader.changes(ref.group.run_id)

        self._workspace.read(read, self._take_group, key="completions.group")

    def _take_group(self, answer: GroupAnswer) -> None:
        ref, group, changes = answer
        if self._workspace.run is None or ref.group.run_id != self._workspace.run.id or ref != self._wanted:
            return
        self._group, self._changes = group, changes
        if group is None:
            self.detail.clear(_missing(ref.group))
        else:
            self._show(ref)

    def _show(self, ref: CompletionRef) -> None:
        self._wanted = ref
        group = self._group
        if group is None:
            return
        places = [place for place, sample in enumerate(group.completions) if sample.index == ref.index]
        if places:
            bounds = clip_bounds(self._config, self._changes, ref.group.step)
            self.detail.show_completion(group, places[0], self._config, bounds)

    def _open_detail(self, row: CompletionRow) -> None:
        self._chosen(row)
        self._is_detail_open = True
        self._arrange()
        self.detail.tokens.heat_map.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _close_detail(self) -> None:
        self._is_detail_open = False
        self._arrange()
        self.list.table.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _arrange(self) -> None:
        is_wide = self.width() >= theme.px(_SIDE_BY_SIDE_WIDTH)
        if is_wide and not self._is_laid_out:
            self._is_laid_out = True
            detail = theme.px(_DETAIL_WIDTH if self.width() >= theme.px(_ROOMY_WIDTH) else _SMALL_DETAIL_WIDTH)
            self._splitter.setSizes([self.width() - detail, detail])
        self._back.setEnabled(self._is_detail_open and not is_wide)
        self.list.setVisible(is_wide or not self._is_detail_open)
        self.detail.setVisible(is_wide or self._is_detail_open)

    def _show_curve(self, ref: CompletionRef) -> None:
        self._workspace.view_requested.emit("train")  # first, so that the list does not look for its own row
        self._workspace.completion_selected.emit(ref)
        self._workspace.step_selected.emit(ref.group.step)


def _shortcut(owner: QWidget, keys: str, function: Callable[[], object]) -> QShortcut:
    shortcut = QShortcut(QKeySequence(keys), owner)
    shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    shortcut.activated.connect(function)
    return shortcut


def _missing(ref: GroupRef) -> str:
    return f"Group {ref.index + 1} of step {ref.step} is not in the database yet."
