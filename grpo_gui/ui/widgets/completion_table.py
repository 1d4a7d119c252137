"""The table of the Completions view: a tree whose groups are full-width rows, moved through by J, K and Enter."""

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from grpo_gui.store.records import CompletionRow, GroupSummary
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.models.column_widths import column_widths
from grpo_gui.ui.models.completion_columns import HIDEABLE, Column
from grpo_gui.ui.models.completion_filters import RISING, sorted_by
from grpo_gui.ui.models.completions_model import CompletionsModel
from grpo_gui.ui.widgets.completion_rows import Cell, RowPainter

Index = QModelIndex | QPersistentModelIndex

_OPENED_AT_START = 2  # groups
_NEAR_END_ROWS = 40  # the next page is asked for before the end comes into view


class CompletionTable(QTreeView):
    """Shows a CompletionsModel. `chosen` brings the completion under the cursor, `opened` one that was asked for."""

    chosen = Signal(object)  # CompletionRow
    opened = Signal(object)  # CompletionRow
    sort_asked = Signal(object)  # Column: its header was clicked

    def __init__(self, model: CompletionsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._hidden: set[Column] = set()
        self._absent = frozenset({Column.HUMAN})  # of what this run has not
        self._kept: Column | None = None
        self._cells: tuple[Cell, ...] = ()
        self.rows = RowPainter()
        self.setModel(model)
        self.setItemDelegate(_RowHeight(self.rows, self))
        self.setAccessibleName("Completions")
        self.setUniformRowHeights(True)
        self.setIndentation(0)
        self.setRootIsDecorated(False)
        self.setExpandsOnDoubleClick(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._prepare_header()
        model.restarted.connect(self._restarted)
        model.loaded.connect(self._loaded)
        self.selectionModel().currentChanged.connect(self._current_changed)
        self.verticalScrollBar().valueChanged.connect(self._prefetch)
        theme.follow(self, self._restyle)

    def current_record(self) -> CompletionRow | GroupSummary | None:
        """Give the completion or group under the cursor."""
        return self._model.record(self.currentIndex())

    def is_at_top(self) -> bool:
        """True when the first row is in view."""
        return self.verticalScrollBar().value() == self.verticalScrollBar().minimum()

    def hidden_columns(self) -> tuple[Column, ...]:
        """Give the columns that the user hid."""
        return tuple(sorted(self._hidden))

    def set_column_hidden(self, column: Column, hidden: bool) -> None:
        """Hide or show a column; there is never a prompt in groups, whose row names it."""
        if column in HIDEABLE:
            (self._hidden.add if hidden else self._hidden.discard)(column)
            self._apply_columns()

    def show_human(self, has_human: bool) -> None:
        """Have a column for ratings, or none, as the run has them as a reward."""
        self._absent = frozenset() if has_human else frozenset({Column.HUMAN})
        self._apply_columns()

    def offered_columns(self) -> tuple[Column, ...]:
        """Give the columns that can be hidden and shown."""
        return tuple(column for column in HIDEABLE if column not in self._absent)

    def show_sort(self, sort: str) -> None:
        """Mark the column that the list is sorted by; it stays where others make way."""
        self._kept = sorted_by(sort)
        self._model.mark_sorted(self._kept, falling=sort not in RISING)
        self._apply_columns()

    def step(self, rows: int) -> None:
        """Move the cursor to the next (1) or previous (-1) completion, opening groups on the way."""
        index = self.currentIndex()
        if not index.isValid():
            self._go_to(self._first_completion())
            return
        self._go_to(self._neighbour(index, rows))

    def reveal(self, index: QModelIndex) -> None:
        """Put the cursor on a loaded completion and scroll to it."""
        self._go_to(index)

    def mark(self, index: QModelIndex) -> None:
        """Put the cursor on a completion without scrolling or opening its group; only where it can be seen."""
        group = index.parent()
        if index.isValid() and (not group.isValid() or self.isExpanded(group)):
            self.setAutoScroll(False)
            self.setCurrentIndex(index)
            self.setAutoScroll(True)

    def drawRow(self, painter: QPainter, options: QStyleOptionViewItem, index: Index) -> None:
        """Paint a whole row; whatever happens, the painter is left as it was, or the window loses its picture."""
        record = self._model.record(index)
        first = self._model.index(index.row(), 0, self._model.parent(index))
        rect = QRect(0, options.rect.y(), self.viewport().width(), options.rect.height())
        is_selected = self.selectionModel().isSelected(first)
        painter.save()
        try:
            if isinstance(record, GroupSummary):
                self.rows.paint_group(painter, rect, record, opened=self.isExpanded(first), selected=is_selected)
            elif record is not None:
                self.rows.paint_completion(
                    painter, rect, record, self._cells, grouped=self._model.grouped, selected=is_selected
                )
        finally:
            painter.restore()

    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """Draw no tree lines."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """J and K move between completions, Enter opens a group or a completion."""
        match event.key():
            case Qt.Key.Key_J:
                self.step(1)
            case Qt.Key.Key_K:
                self.step(-1)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._open(self.currentIndex())
            case _:
                super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:
        """Leave letters to the view's shortcuts."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on a group opens or closes it."""
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and isinstance(self._model.record(index), GroupSummary):
            self._toggle(index)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """A double click on a completion opens it."""
        super().mouseDoubleClickEvent(event)
        record = self._model.record(self.indexAt(event.position().toPoint()))
        if isinstance(record, CompletionRow):
            self.opened.emit(record)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width among the columns anew."""
        super().resizeEvent(event)
        self._apply_columns()

    def doItemsLayout(self) -> None:
        """Lay out what is loaded. Qt would ask for another page at every layout, until the whole run is loaded."""
        self._model.pager.is_held = True
        super().doItemsLayout()
        self._model.pager.is_held = False
        self._prefetch(self.verticalScrollBar().value())

    def _prepare_header(self) -> None:
        header = self.header()
        header.setSectionsMovable(False)
        header.setSectionsClickable(True)
        header.sectionClicked.connect(lambda section: self.sort_asked.emit(Column(section)))
        header.setMinimumSectionSize(theme.px(20))
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._apply_columns()

    def _apply_columns(self) -> None:
        available = int(self.viewport().width() / theme.scale())
        hidden = self._hidden | self._absent
        widths = column_widths(available, grouped=self._model.grouped, hidden=hidden, kept=self._kept)
        for column in Column:
            self.setColumnHidden(column, column not in widths)
            if column in widths:
                self.header().resizeSection(column, theme.px(widths[column]))
        shown = [column for column in Column if column in widths]
        self._cells = tuple(
            Cell(column, self.columnViewportPosition(column), self.columnWidth(column)) for column in shown
        )

    def _restyle(self) -> None:
        self.rows.restyle()
        self._apply_columns()
        self.viewport().update()

    def _restarted(self) -> None:
        self._apply_columns()
        if self._model.grouped:
            for row in range(min(_OPENED_AT_START, self._model.rowCount())):
                self.expand(self._model.index(row, 0))
        self.scrollToTop()

    def _loaded(self) -> None:
        self.rows.reward_bounds = self._model.reward_bounds
        self.viewport().update()

    def _prefetch(self, value: int) -> None:
        rows_left = (self.verticalScrollBar().maximum() - value) // max(1, theme.px(tokens.ROW_LIST))
        if rows_left < _NEAR_END_ROWS and self._model.canFetchMore(QModelIndex()):
            self._model.fetchMore(QModelIndex())

    def _current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:  # noqa: ARG002  # Qt's signature
        record = self._model.record(current)
        if isinstance(record, CompletionRow):
            self.chosen.emit(record)

    def _open(self, index: QModelIndex) -> None:
        record = self._model.record(index)
        if isinstance(record, GroupSummary):
            self._toggle(index)
        elif record is not None:
            self.opened.emit(record)

    def _toggle(self, index: QModelIndex) -> None:
        group = self._model.index(index.row(), 0)
        self.setExpanded(group, not self.isExpanded(group))

    def _first_completion(self) -> QModelIndex:
        first = self._model.index(0, 0)
        if not self._model.grouped:
            return first
        self.expand(first)
        return self._model.index(0, 0, first)

    def _neighbour(self, index: QModelIndex, rows: int) -> QModelIndex:
        """Give the next or previous completion in the order of the table, whether or not its group is open."""
        parent = self._model.parent(index)
        if self._model.grouped and not parent.isValid():
            group = index.row() if rows > 0 else index.row() - 1
        else:
            beside = self._model.index(index.row() + rows, 0, parent)
            if beside.isValid() or not self._model.grouped:
                return beside
            group = parent.row() + rows
        other = self._model.index(group, 0)
        return self._model.index(0 if rows > 0 else self._model.rowCount(other) - 1, 0, other)

    def _go_to(self, index: QModelIndex) -> None:
        if index.isValid():
            if index.parent().isValid():
                self.expand(index.parent())
            self.setCurrentIndex(index)
            self.scrollTo(index)


class _RowHeight(QStyledItemDelegate):
    """Tells Qt how high a row is; the table paints its rows itself."""

    def __init__(self, rows: RowPainter, parent: QObject) -> None:
        super().__init__(parent)
        self._rows = rows

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002  # every row is alike
        """Give the height of a list row."""
        return QSize(0, self._rows.height)
