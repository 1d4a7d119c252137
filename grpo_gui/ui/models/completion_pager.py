"""Reads the pages of a completion query in the background, in order, and drops answers that came too late."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import shiboken6
from PySide6.QtCore import QObject, Signal

from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import CompletionQuery, CompletionRow, GroupSummary
from grpo_gui.ui.background_tasks import TaskFailure

T = TypeVar("T")
Cursor = tuple[float | int, ...] | None

GROUPS_PER_PAGE = 50
ROWS_PER_PAGE = 200
NEWER_LIMIT = 400  # items taken in one go at the top


class Source(Protocol):
    """Where pages come from: the workspace, or a fake in a test."""

    def read(
        self,
        function: Callable[[StoreReader], T],
        done: Callable[[T], None],
        failed: Callable[[TaskFailure], None] | None = None,
        *,
        key: str = "",
    ) -> None:
        """Run `function` in the background, then on the GUI thread `done` with its result or `failed`.

        Of reads with the same key only the newest is answered.
        """


@dataclass(frozen=True, slots=True)
class GroupItem:
    """A loaded group: its header and the completions that match the query."""

    summary: GroupSummary
    rows: tuple[CompletionRow, ...]


Item = GroupItem | CompletionRow


@dataclass(frozen=True, slots=True)
class Page:
    """Some items in the query's order, where to go on, and the newest step the database had."""

    items: tuple[Item, ...]
    cursor: Cursor
    newest_step: int


class CompletionPager(QObject):
    """Asks for one page at a time.

    Every page is bounded by the newest step at the time of the query, so that a running trainer cannot
    shift what is on screen; `fetch_newer` takes in what came since.
    """

    first = Signal(object)  # Page: replaces everything
    following = Signal(object)  # Page: goes to the end
    newer = Signal(object)  # Page: goes to the top
    failed = Signal(str)

    def __init__(self, source: Source, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source = source
        self._generation = 0
        self._cursor: Cursor = None
        self.query: CompletionQuery | None = None
        self.grouped = True
        self.is_loading = False
        self.is_held = False  # the view does not want a page now
        self.seen_step = 0

    @property
    def has_more(self) -> bool:
        """True when the store holds more items than were read."""
        return self._cursor is not None

    def restart(self, query: CompletionQuery | None, *, grouped: bool) -> None:
        """Forget what is on its way and read the first page of a query; None: only forget."""
        self._generation += 1
        self.query, self.grouped = query, grouped
        self.is_loading, self._cursor = False, None
        if query is not None:
            self._read(query, None, self._take_first)

    def fetch_next(self) -> None:
        """Read the page after the last one, unless something is on its way already."""
        if self.query is not None and self.has_more and not self.is_loading:
            self._read(_up_to(self.query, self.seen_step), self._cursor, self._take_next)

    def fetch_newer(self) -> None:
        """Read what came after `seen_step`. Only for the order "newest"."""
        if self.query is None or self.is_loading or self.query.superseded:  # those only come with a resume
            return
        newer = replace(self.query, min_step=max(self.seen_step + 1, self.query.min_step or 0))
        self._read(newer, None, self._take_newer, NEWER_LIMIT)

    def _read(self, query: CompletionQuery, cursor: Cursor, take: Callable[[Page], None], limit: int = 0) -> None:
        self.is_loading = True
        generation, grouped = self._generation, self.grouped

        def done(page: Page) -> None:
            if self._is_current(generation):
                self.is_loading = False
                take(page)

        def failed(failure: TaskFailure) -> None:
            if self._is_current(generation):
                self.is_loading = False
                self.failed.emit(failure.message)

        def read(reader: StoreReader) -> Page:
            return _read_page(reader, query, cursor, grouped, limit)

        self._source.read(read, done, failed, key="completions.page")

    def _is_current(self, generation: int) -> bool:
        return shiboken6.isValid(self) and generation == self._generation

    def _take_first(self, page: Page) -> None:
        self._cursor, self.seen_step = page.cursor, page.newest_step
        self.first.emit(page)

    def _take_next(self, page: Page) -> None:
        self._cursor = page.cursor
        self.following.emit(page)

    def _take_newer(self, page: Page) -> None:
        if page.cursor is not None:  # more than one page: starting anew is quicker than filling the gap
            self.restart(self.query, grouped=self.grouped)
            return
        self.seen_step = max(page.newest_step, self.seen_step)
        self.newer.emit(page)


def _read_page(reader: StoreReader, query: CompletionQuery, cursor: Cursor, grouped: bool, limit: int) -> Page:
    newest = reader.newest_step(query.run_id) or 0
    bounded = _up_to(query, newest)
    if grouped:
        groups = reader.group_page(bounded, cursor, limit or GROUPS_PER_PAGE)
        return Page(tuple(GroupItem(summary, rows) for summary, rows in groups.groups), groups.cursor, newest)
    page = reader.completion_page(bounded, cursor, limit or ROWS_PER_PAGE)
    return Page(page.rows, page.cursor, newest)


def _up_to(query: CompletionQuery, step: int) -> CompletionQuery:
    if query.superseded:  # of steps that may lie ahead of the newest one
        return query
    return replace(query, max_step=step if query.max_step is None else min(step, query.max_step))
