"""The left side of the Completions view: filters, the list, how much of it is loaded, and what a live run adds."""

from dataclasses import replace

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from grpo_gui.store.records import CompletionQuery, CompletionRef, RunRecord
from grpo_gui.training.rating_rules import has_human_reward
from grpo_gui.ui import theme
from grpo_gui.ui.formatting import count
from grpo_gui.ui.models.completion_columns import HEADERS, Column
from grpo_gui.ui.models.completion_filters import cleared, is_filtered, next_sort
from grpo_gui.ui.models.completions_model import CompletionsModel
from grpo_gui.ui.run_config import config_of
from grpo_gui.ui.widgets.bars import advantage_limit
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.completion_table import CompletionTable
from grpo_gui.ui.widgets.empty_state import EmptyState
from grpo_gui.ui.widgets.filter_bar import FilterBar
from grpo_gui.ui.widgets.labels import ElidedLabel, hline, label
from grpo_gui.ui.widgets.live_notice import LiveNotice
from grpo_gui.ui.workspace import Workspace

_KEYS = "Enter opens, J and K move, G groups, / searches"
_NO_MATCH = "No completion matches."
_WAITING = "The first completions come with the first step."
_NONE = "This run ended before its first step, so it has no completions."


class CompletionList(QFrame):
    """Shows one query of one run. The detail beside it listens to `table.chosen` and `table.opened`."""

    restarted = Signal()  # another query's first page is in
    loading_failed = Signal(str)

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "card")
        self._workspace = workspace
        self._run: RunRecord | None = None
        self._query = CompletionQuery(run_id=0)
        self._counts: tuple[int, int] | None = None
        self._is_grouped = True
        self._sought: CompletionRef | None = None
        self._has_reread = False  # for the one that is sought
        self.model = CompletionsModel(workspace, self)
        self.table = CompletionTable(self.model)
        self.filters = FilterBar()
        self.notice = LiveNotice(self)
        self.pill = button("", "up", tooltip="Read the list anew, with the steps done since.")
        self.no_match = EmptyState(_NO_MATCH, "Remove all filters")
        self.message = label("", "lead", wrap=True)
        self._pages = QStackedWidget()
        self._keys = ElidedLabel(_KEYS, look="hint")
        self.loaded = label("", "hint", "The list grows by pages while it is scrolled; the rest stays in the database.")
        self._lay_out()
        self._connect()

    @property
    def query(self) -> CompletionQuery:
        """The query that is shown."""
        return self._query

    def show_run(self, run: RunRecord | None, group_size: int) -> None:
        """Show another run, in the same order and without filters."""
        self._run = run
        self.table.rows.advantage_limit = advantage_limit(group_size)
        config = config_of(run)
        self.table.show_human(config is not None and has_human_reward(config))
        if run is None:
            self.model.show_query(None, grouped=self._is_grouped)
            return
        self._query = CompletionQuery(run_id=run.id, sort=self._query.sort)
        self.notice.reset(run.steps_done)
        self._restart()
        self._workspace.read(lambda reader: reader.tasks(run.id), self.filters.set_tasks, key="completions.tasks")

    def update_run(self, run: RunRecord) -> None:
        """Take in that the run went on."""
        self._run = run
        self._show_counts()
        if not self.model.rowCount() and self._counts is not None:
            self._show_page()
        if self.isVisible():
            self.notice.run_is_at(self._newest_wanted())

    def set_query(self, query: CompletionQuery) -> None:
        """Show another query of the same run."""
        if query != self._query:
            self._sought = None
            self._query = query
            self._restart()

    def set_grouped(self, is_grouped: bool) -> None:
        """Show groups with their completions, or completions alone."""
        if is_grouped != self._is_grouped:
            self._is_grouped = is_grouped
            self.model.show_query(self._query, grouped=is_grouped)

    def toggle_grouping(self) -> None:
        """Switch between groups and flat."""
        self.filters.grouping.choose("flat" if self._is_grouped else "groups")

    def reveal(self, ref: CompletionRef) -> bool:
        """Put the cursor on a completion; False when it is not loaded."""
        index = self.model.index_of(ref)
        if index.isValid():
            self.table.reveal(index)
        return index.isValid()

    def seek(self, ref: CompletionRef) -> bool:
        """Reveal a completion; where it is not loaded (False), read the list up to it, or the list of its step."""
        self._sought = None
        if self.reveal(ref):
            return True
        self._sought, self._has_reread = ref, False
        if not self.model.pager.is_loading:
            self._go_on_seeking()
        return False

    def _go_on_seeking(self) -> None:
        ref = self._sought
        if ref is None or self._run is None or ref.group.run_id != self._run.id or self.reveal(ref):
            self._sought = None
        elif self._query.min_step == self._query.max_step == ref.group.step:
            if self.model.pager.has_more:
                self.model.pager.fetch_next()
            else:
                self._sought = None  # another filter, or the store, does not have it
        elif ref.group.step > self.model.pager.seen_step and not is_filtered(self._query):
            if self._has_reread:
                self._sought = None  # the store does not have it yet
            else:
                self._has_reread = True
                self._restart()
        else:
            step, superseded = ref.group.step, ref.group.superseded > 0
            self.set_query(replace(cleared(self._query), min_step=step, max_step=step, superseded=superseded))
            self._sought = ref

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the pill at the top of the list."""
        super().resizeEvent(event)
        self._place_pill()

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with a run that went on meanwhile."""
        super().showEvent(event)
        if self._run is not None:
            self.notice.run_is_at(self._newest_wanted())

    def hideEvent(self, event: QHideEvent) -> None:
        """Read nothing while nobody looks."""
        super().hideEvent(event)
        self.notice.pause()

    def _lay_out(self) -> None:
        waiting = QWidget()
        box = QVBoxLayout(waiting)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        box.addWidget(self.message)
        for page in (self.table, self.no_match, waiting):
            self._pages.addWidget(page)
        footer = QHBoxLayout()
        footer.setContentsMargins(12, 4, 12, 5)
        footer.addWidget(self._keys, 1)
        footer.addWidget(self.loaded)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addWidget(self.filters)
        column.addWidget(hline())
        column.addWidget(self._pages, 1)
        column.addWidget(hline())
        column.addLayout(footer)
        self.pill.setParent(self)
        self.pill.hide()

    def _connect(self) -> None:
        self.filters.query_changed.connect(self.set_query)
        self.filters.grouping_changed.connect(self.set_grouped)
        self.filters.search_left.connect(lambda: self.table.setFocus(Qt.FocusReason.OtherFocusReason))
        self.filters.columns.clicked.connect(self._open_columns_menu)
        self.no_match.clicked.connect(lambda: self.set_query(cleared(self._query)))
        self.model.restarted.connect(self.restarted)
        self.model.loaded.connect(self._loaded)
        self.model.newer_added.connect(lambda _: self._count())
        self.model.failed.connect(self._failed)
        self.notice.wanted.connect(self.model.add_newer)
        self.notice.waiting.connect(self._show_pill)
        self.pill.clicked.connect(self._restart)
        self.table.sort_asked.connect(self._sort_by)
        self.table.verticalScrollBar().valueChanged.connect(lambda _: self._follow())

    def _sort_by(self, column: Column) -> None:
        self.set_query(replace(self._query, sort=next_sort(column, self._query.sort)))

    def _restart(self) -> None:
        self._counts = None
        self.filters.show_query(self._query)
        self.table.show_sort(self._query.sort)
        self._follow()
        self.model.show_query(self._query, grouped=self._is_grouped)
        self._show_counts()
        self._count()

    def _count(self) -> None:
        query = self._query
        self._workspace.read(lambda reader: (query, reader.count(query)), self._counted, key="completions.count")

    def _counted(self, result: tuple[CompletionQuery, tuple[int, int]]) -> None:
        query, counts = result
        if query == self._query:
            self._counts = counts
            self._show_counts()

    def _loaded(self) -> None:
        self.notice.list_is_at(self.model.pager.seen_step)
        self._show_page()
        self._show_counts()
        self._go_on_seeking()

    def _failed(self, sentence: str) -> None:
        self.message.setText(sentence)
        self._pages.setCurrentIndex(2)
        self.loading_failed.emit(sentence)

    def _follow(self) -> None:
        self.notice.follow(self._query.sort == "newest" and self.table.is_at_top())

    def _newest_wanted(self) -> int:
        """Give the newest step that the list could hold: a filter may end before the run's newest."""
        steps = self._run.steps_done if self._run is not None else 0
        return steps if self._query.max_step is None else min(steps, self._query.max_step)

    def _show_page(self) -> None:
        if self.model.rowCount():
            self._pages.setCurrentIndex(0)
        elif is_filtered(self._query):
            self._pages.setCurrentIndex(1)
        else:
            is_active = self._run is not None and self._run.status.is_active
            self.message.setText(_WAITING if is_active else _NONE)
            self._pages.setCurrentIndex(2)

    def _show_counts(self) -> None:
        if self._counts is None or self._run is None:
            self.filters.count.setText("" if self._run is None else "reading…")
            self.loaded.setText("")
            return
        completions, groups = self._counts
        total = max(self._run.completions, completions)
        found = f"{count(completions)} of {count(total)}" if is_filtered(self._query) else count(completions)
        of_what = _noun(total if is_filtered(self._query) else completions, "completion")
        self.filters.count.setText(f"{found} {of_what}, {count(groups)} {_noun(groups, 'group')}")
        rows = self.model.rowCount()
        whole, noun = (groups, "group") if self.model.grouped else (completions, "completion")
        self.loaded.setText(f"{count(rows)} of {count(max(whole, rows))} {_noun(whole, noun)} loaded")

    def _show_pill(self, steps: int) -> None:
        self.pill.setVisible(steps > 0)
        if steps:
            self.pill.setText(f"{count(steps)} new {_noun(steps, 'step')} — show")
            self._place_pill()

    def _place_pill(self) -> None:
        self.pill.adjustSize()
        corner = self._pages.mapTo(self, QPoint(0, 0))
        left = corner.x() + (self._pages.width() - self.pill.width()) // 2
        self.pill.move(left, corner.y() + self.table.header().height() + theme.px(8))
        self.pill.raise_()

    def columns_menu(self) -> QMenu:
        """Make the menu of the columns that can be hidden."""
        menu = QMenu(self.filters.columns)
        for column in self.table.offered_columns():
            if column == Column.PROMPT and self._is_grouped:
                continue
            action = menu.addAction(HEADERS[column] or "cut off")
            action.setCheckable(True)
            action.setChecked(column not in self.table.hidden_columns())
            action.toggled.connect(lambda on, column=column: self.table.set_column_hidden(column, not on))
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _open_columns_menu(self) -> None:
        place: QPushButton = self.filters.columns
        self.columns_menu().popup(place.mapToGlobal(place.rect().bottomLeft()))


def _noun(number: int, word: str) -> str:
    return word if number == 1 else f"{word}s"
