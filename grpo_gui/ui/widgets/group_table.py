"""The completions of a group with reward bars and diverging advantage bars on a fixed scale."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from grpo_gui.events import CompletionSample, GroupSample
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.models.group_table_model import ADVANTAGE, REWARD, TEXT, VALUE_ROLE, GroupTableModel
from grpo_gui.ui.widgets.bars import AdvantageBarDelegate, RewardBarDelegate, advantage_limit
from grpo_gui.ui.widgets.plain_table import make_plain

_MOST_ROWS = 8  # more of them scroll
_REWARD_WIDTH = 100
_ADVANTAGE_WIDTH = 106


class GroupTable(QTableView):
    """Rows that can be chosen by mouse and arrow keys; `chosen` gives the completion, `opened` one that was entered."""

    chosen = Signal(object)  # CompletionSample | None
    opened = Signal(object)  # CompletionSample

    def __init__(self) -> None:
        super().__init__()
        self._bounds = (0.0, 1.0)
        self._model = GroupTableModel(self)
        self.setModel(self._model)
        self.setAccessibleName("Completions of the group")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        make_plain(self, (TEXT,))
        self.setItemDelegateForColumn(TEXT, _MonoDelegate(self))
        self.setItemDelegateForColumn(REWARD, RewardBarDelegate(self, VALUE_ROLE, lambda: self._bounds))
        self.setItemDelegateForColumn(ADVANTAGE, AdvantageBarDelegate(self, VALUE_ROLE, self._limit))
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        self.activated.connect(self._activated)
        theme.follow(self, self._restyle)

    def show_group(self, group: GroupSample | None, bounds: tuple[float, float]) -> None:
        """Show another group; the row stays chosen. `bounds` are the ends of the reward bars."""
        self._bounds = bounds
        row = max(self.currentIndex().row(), 0)
        self._model.show_group(group)
        self._fit()
        if self._model.rowCount():
            self.choose(min(row, self._model.rowCount() - 1))
        self.chosen.emit(self.chosen_completion)

    def choose(self, row: int) -> None:
        """Choose a completion by its row."""
        self.setCurrentIndex(self._model.index(row, TEXT))

    @property
    def chosen_completion(self) -> CompletionSample | None:
        """The completion of the chosen row, None without a group."""
        return self._model.completion(self.currentIndex().row())

    def sizeHint(self) -> QSize:
        """Header and rows, up to the height at which it scrolls."""
        rows = min(max(self._model.rowCount(), 1), _MOST_ROWS)
        return QSize(theme.px(280), theme.px(tokens.TABLE_HEADER_HEIGHT) + rows * theme.px(tokens.ROW_DETAIL))

    def _limit(self, _: QModelIndex | QPersistentModelIndex) -> float:
        return advantage_limit(self._model.rowCount())

    def _fit(self) -> None:
        height = self.sizeHint().height()
        if height != self.height():
            self.setFixedHeight(height)
        rows = self._model.rowCount()
        scrolls = Qt.ScrollBarPolicy.ScrollBarAsNeeded if rows > _MOST_ROWS else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(scrolls)

    def _restyle(self) -> None:
        self.verticalHeader().setDefaultSectionSize(theme.px(tokens.ROW_DETAIL))
        self.setColumnWidth(REWARD, theme.px(_REWARD_WIDTH))
        self.setColumnWidth(ADVANTAGE, theme.px(_ADVANTAGE_WIDTH))
        self._fit()
        self.viewport().update()

    def _current_changed(self) -> None:
        self.chosen.emit(self.chosen_completion)

    def _activated(self, index: QModelIndex) -> None:
        completion = self._model.completion(index.row())
        if completion is not None:
            self.opened.emit(completion)


class _MonoDelegate(QStyledItemDelegate):
    """Text in the monospace font, elided at its right end."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Use the monospace font."""
        super().initStyleOption(option, index)
        option.font = theme.font(12, mono=True)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw without the dotted focus frame: the row's ground already tells."""
        option.state &= ~QStyle.StateFlag.State_HasFocus
        super().paint(painter, option, index)
