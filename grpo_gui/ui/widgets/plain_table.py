"""A table of whole rows whose columns give way where it is narrow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from grpo_gui.ui import theme


@dataclass(frozen=True, slots=True)
class Columns:
    """How wide the columns of a table are, in pixels of the design."""

    widths: Mapping[int, int]
    stretched: Sequence[int]  # they share what the others leave
    least: int  # what those keep at least
    give_way: Sequence[int]  # left out where there is less, the first one first


def make_plain(table: QTableView, stretched: Sequence[int]) -> None:
    """Take away grid, row numbers, the bar below and what a header does to the mouse; the rest of the width is shared.

    The model must be set already.
    """
    table.setShowGrid(False)
    table.setTabKeyNavigation(False)
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    table.verticalHeader().hide()
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    header = table.horizontalHeader()
    header.setSectionsClickable(False)
    header.setHighlightSections(False)
    header.setMinimumSectionSize(20)
    header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    for column in stretched:
        header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)


class PlainTable(QTableView):
    """Rows without grid and numbers, one chosen at a time. A subclass follows the theme with `restyle`."""

    def __init__(self, name: str, model: QAbstractItemModel, columns: Columns, row_height: int) -> None:
        """Take the accessible name, the model, its columns and the height of a row."""
        super().__init__()
        self._columns, self._row_height = columns, row_height
        self.setModel(model)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setWordWrap(False)
        make_plain(self, columns.stretched)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let columns give way in the order of their weight."""
        super().resizeEvent(event)
        self._share_width()

    def restyle(self) -> None:
        """Take sizes and colours of the theme."""
        self.verticalHeader().setDefaultSectionSize(theme.px(self._row_height))
        for column, width in self._columns.widths.items():
            self.setColumnWidth(column, theme.px(width))
        self._share_width()
        self.viewport().update()

    def _share_width(self) -> None:
        widths = self._columns.widths
        free = self.viewport().width() - theme.px(self._columns.least) - sum(map(theme.px, widths.values()))
        for column in self._columns.give_way:
            hidden = free < 0
            self.setColumnHidden(column, hidden)
            free += theme.px(widths[column]) if hidden else 0
