"""The Completions view's Qt model: groups with their completions, or completions alone, growing by pages."""

import html
import math
from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from grpo_gui.store.records import CompletionQuery, CompletionRef, CompletionRow, GroupSummary
from grpo_gui.ui.models.completion_columns import (
    DEFINITIONS,
    HEADERS,
    Column,
    cell_text,
    group_sentence,
    row_sentence,
)
from grpo_gui.ui.models.completion_filters import SORTS_OF
from grpo_gui.ui.models.completion_pager import CompletionPager, GroupItem, Item, Page, Source
from grpo_gui.ui.models.headings import sorted_name
from grpo_gui.ui.models.visible_text import paragraph

Index = QModelIndex | QPersistentModelIndex

RECORD_ROLE = int(Qt.ItemDataRole.UserRole)  # CompletionRow or GroupSummary
FOLLOWED_LIMIT = 4000  # items kept while following a run; above it, the list starts anew
_TOOLTIP_LIMIT = 2000  # characters
_ID_BIAS = 1 << 40  # internal ids are unsigned, serials of items added at the top are negative
_NUMERIC = frozenset({Column.REWARD, Column.HUMAN, Column.ADVANTAGE, Column.TOKENS, Column.CLIPPED, Column.KL})
_ROOT = QModelIndex()


class CompletionsModel(QAbstractItemModel):
    """A tree of groups and completions, or a list of completions.

    Top-level items carry serials that never change while items are added at either end; the internal id of a
    completion's index is its group's serial, so that indices Qt keeps stay right when newer groups come on top.
    """

    restarted = Signal()  # the first page of a query is in
    loaded = Signal()  # any page is in
    newer_added = Signal(int)  # items put at the top
    failed = Signal(str)

    def __init__(self, source: Source, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._items: list[Item] = []
        self._first_serial = 0
        self._grouped = True
        self._reward_bounds = (0.0, 1.0)
        self._sorted: tuple[Column, bool] | None = None  # and whether it falls
        self.pager = CompletionPager(source, self)
        self.pager.first.connect(self._start)
        self.pager.following.connect(self._append)
        self.pager.newer.connect(self._prepend)
        self.pager.failed.connect(self.failed)

    @property
    def grouped(self) -> bool:
        """True when top-level rows are groups."""
        return self._grouped

    @property
    def reward_bounds(self) -> tuple[float, float]:
        """The ends of the reward bars: at least 0 to 1, wider where a loaded reward lies outside."""
        return self._reward_bounds

    def show_query(self, query: CompletionQuery | None, *, grouped: bool) -> None:
        """Start anew with a query. What is on screen stays until the first page is in, unless it is another run's."""
        before = self.pager.query
        if query is None or before is None or query.run_id != before.run_id:
            self.pager.restart(None, grouped=grouped)
            self._replace([], grouped)
        self.pager.restart(query, grouped=grouped)

    def mark_sorted(self, column: Column, *, falling: bool) -> None:
        """Mark in the header the column that the query sorts by."""
        self._sorted = column, falling
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(Column) - 1)

    def add_newer(self) -> None:
        """Put what the run produced since at the top. Only for the order "newest"."""
        if len(self._items) > FOLLOWED_LIMIT:
            self.pager.restart(self.pager.query, grouped=self.pager.grouped)
        else:
            self.pager.fetch_newer()

    def record(self, index: Index) -> CompletionRow | GroupSummary | None:
        """Give the completion or group that stands at an index."""
        if not index.isValid():
            return None
        if index.internalId():
            group = self._top_item(self.parent(index))
            return group.rows[index.row()] if isinstance(group, GroupItem) else None
        item = self._top_item(index)
        return item.summary if isinstance(item, GroupItem) else item

    def index_of(self, ref: CompletionRef) -> QModelIndex:
        """Find a loaded completion; an invalid index when it is not loaded."""
        for row, item in enumerate(self._items):
            if isinstance(item, CompletionRow):
                if item.ref == ref:
                    return self.index(row, 0)
            elif item.summary.ref == ref.group:
                return self._child_of(row, item, ref)
        return QModelIndex()

    def completions_loaded(self) -> int:
        """Count the completions that are in."""
        return sum(len(item.rows) if isinstance(item, GroupItem) else 1 for item in self._items)

    def _child_of(self, row: int, item: GroupItem, ref: CompletionRef) -> QModelIndex:
        for child, completion in enumerate(item.rows):
            if completion.ref == ref:
                return self.index(child, 0, self.index(row, 0))
        return QModelIndex()

    def _top_item(self, index: Index) -> Item | None:
        return self._items[index.row()] if 0 <= index.row() < len(self._items) else None

    def _replace(self, items: list[Item], grouped: bool) -> None:
        self.beginResetModel()
        self._items, self._grouped, self._first_serial = items, grouped, 0
        self._reward_bounds = _widened((0.0, 1.0), items)
        self.endResetModel()

    def _start(self, page: Page) -> None:
        self._replace(list(page.items), self.pager.grouped)
        self.restarted.emit()
        self.loaded.emit()

    def _append(self, page: Page) -> None:
        if page.items:
            first = len(self._items)
            self.beginInsertRows(QModelIndex(), first, first + len(page.items) - 1)
            self._items.extend(page.items)
            self._reward_bounds = _widened(self._reward_bounds, page.items)
            self.endInsertRows()
        self.loaded.emit()

    def _prepend(self, page: Page) -> None:
        if page.items and not self._items:
            self._start(page)
            self.newer_added.emit(len(page.items))
            return
        if page.items:
            self.beginInsertRows(QModelIndex(), 0, len(page.items) - 1)
            self._items[:0] = page.items
            self._first_serial -= len(page.items)
            self._reward_bounds = _widened(self._reward_bounds, page.items)
            self.endInsertRows()
            self.newer_added.emit(len(page.items))
        self.loaded.emit()

    # What Qt asks for.

    def canFetchMore(self, parent: Index) -> bool:
        """True when the store has more groups or completions for the query and none are on their way."""
        pager = self.pager
        return not parent.isValid() and pager.has_more and not pager.is_loading and not pager.is_held

    def fetchMore(self, parent: Index) -> None:
        """Ask for the next page in the background."""
        if self.canFetchMore(parent):
            self.pager.fetch_next()

    def index(self, row: int, column: int, parent: Index = _ROOT) -> QModelIndex:
        """Give the index of a group, or of a completion under its group (under the root, when flat)."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        serial = parent.row() + self._first_serial + _ID_BIAS if parent.isValid() else 0
        return self.createIndex(row, column, serial)

    def parent(self, child: Index = _ROOT) -> QModelIndex:  # type: ignore[override]  # QObject.parent() has no index
        """Give the group of a completion; groups and flat completions have none."""
        serial = int(child.internalId()) if child.isValid() else 0
        if serial == 0:
            return QModelIndex()
        return self.createIndex(serial - _ID_BIAS - self._first_serial, 0, 0)

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Count what is loaded under an index."""
        if not parent.isValid():
            return len(self._items)
        if parent.internalId() or parent.column() != 0:
            return 0
        item = self._top_item(parent)
        return len(item.rows) if isinstance(item, GroupItem) else 0

    def columnCount(self, parent: Index = _ROOT) -> int:  # noqa: ARG002  # the same everywhere
        """Count the columns."""
        return len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> object:
        """Give the header's word, its definition as a tooltip, and how it is aligned."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        column = Column(section)
        if role == Qt.ItemDataRole.DisplayRole:
            falling = self._sorted[1] if self._sorted is not None and self._sorted[0] is column else None
            return sorted_name(HEADERS[column], falling)
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{DEFINITIONS[column]}{' Click to sort.' if column in SORTS_OF else ''}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        return None

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """Give a cell's text, record (RECORD_ROLE), tooltip, alignment or its sentence for a screen reader."""
        record = self.record(index)
        if record is None:
            return None
        if role == RECORD_ROLE:
            return record
        if isinstance(record, GroupSummary):
            return _group_data(record, index.column(), role)
        return _row_data(record, Column(index.column()), role, grouped=self._grouped)


def _widened(bounds: tuple[float, float], items: Sequence[Item]) -> tuple[float, float]:
    rows = (row for item in items for row in (item.rows if isinstance(item, GroupItem) else (item,)))
    rewards = [row.reward for row in rows if row.reward is not None and math.isfinite(row.reward)]
    return min((bounds[0], *rewards)), max((bounds[1], *rewards))


def _group_data(summary: GroupSummary, column: int, role: int) -> object:
    if role == Qt.ItemDataRole.AccessibleTextRole or (role == Qt.ItemDataRole.DisplayRole and column == 0):
        return group_sentence(summary)
    if role == Qt.ItemDataRole.ToolTipRole:
        return plain_tooltip(summary.prompt)
    return None


def _row_data(row: CompletionRow, column: Column, role: int, *, grouped: bool) -> object:
    if role == Qt.ItemDataRole.DisplayRole:
        return cell_text(row, column, grouped=grouped)
    if role == Qt.ItemDataRole.TextAlignmentRole:
        is_place = column == Column.NUMBER and grouped
        return _alignment(Column.TOKENS if is_place else column)
    if role == Qt.ItemDataRole.AccessibleTextRole:
        return row_sentence(row)
    if role == Qt.ItemDataRole.ToolTipRole:
        return _tooltip(row, column)
    return None


def _tooltip(row: CompletionRow, column: Column) -> str:
    if column == Column.TEXT:
        return plain_tooltip(row.text)
    if column == Column.PROMPT:
        return plain_tooltip(row.prompt)
    if column == Column.MARK and not row.truncated:
        return ""
    return plain_tooltip(DEFINITIONS[column])


def plain_tooltip(text: str) -> str:
    """Wrap any text for a tooltip: Qt guesses whether a tooltip is HTML, so it is given as escaped HTML always."""
    shown = paragraph(text[:_TOOLTIP_LIMIT]) + ("…" if len(text) > _TOOLTIP_LIMIT else "")
    return f'<p style="white-space: pre-wrap">{html.escape(shown)}</p>' if shown else ""


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in _NUMERIC else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
