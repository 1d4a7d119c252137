"""The card below the keys: the previous group with the reward that was hidden, and the way back to it."""

import time

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import QAbstractItemView, QTableView

from grpo_gui.ui import theme, tokens
from grpo_gui.ui.formatting import duration, number
from grpo_gui.ui.models.opened_group import COUNT, PROGRAM, SAID, TERM, TEXT, VALUE_ROLE, OpenedGroup, OpenedTableModel
from grpo_gui.ui.widgets.bars import AdvantageBarDelegate, RewardBarDelegate, advantage_limit
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.widgets.plain_table import make_plain

_TITLE = "Previous group, now open"
_WIDTHS = {SAID: 84, COUNT: 56, TERM: 150, PROGRAM: 130}
MOST_HEIGHT = 16_777_215  # Qt's own: no limit
_REFRESH_MS = 5_000
_FEWEST_ROWS = 2
_AROUND = 28  # margins and gaps of the card
_AGREE, _DIFFER = 0.3, -0.3


class OpenedCard(Card):
    """`undo_clicked` wants the rating back."""

    undo_clicked = Signal()

    def __init__(self) -> None:
        super().__init__(_TITLE, padding=8)
        self._opened: OpenedGroup | None = None
        self._is_stored = False
        self._most_rows = 0
        self.model = OpenedTableModel(self)
        self.table = QTableView()
        self.agreement = label(
            "", "label", "Kendall's tau-b between your order and the program's: 1 alike, \u22121 opposite."
        )
        self.undo = link("Undo", "undo", tooltip="Take this rating back and rate the group again (Ctrl+Z).")
        self.undo.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.undo.clicked.connect(self.undo_clicked)
        self.header.add_widget(self.agreement)
        self.header.add_widget(self.undo)
        self._shape_table()
        self.body.addWidget(self.table, 1)
        self._timer = QTimer(self)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self._show_time)
        theme.follow(self, self._restyle)

    def show_group(self, opened: OpenedGroup | None, *, is_stored: bool) -> None:
        """Open another group; None closes it. It counts as submitted once the database has it."""
        self._opened, self._is_stored = opened, is_stored
        self.setVisible(opened is not None)
        if opened is None:
            self._timer.stop()
            return
        self._most_rows = max(self._most_rows, len(opened.rows))
        self.model.show_rows(opened.rows)
        self.agreement.setText(agreement_text(opened))
        self._show_time()
        self._timer.start()

    def show_stored(self, is_stored: bool) -> None:
        """The database has the rating by now, or not yet."""
        self._is_stored = is_stored
        self._show_time()

    def forget(self) -> None:
        """Another run: its groups may be smaller."""
        self._most_rows = 0

    @property
    def least_height(self) -> int:
        """With fewer rows than two the table is left out."""
        return self._height_of(_FEWEST_ROWS)

    @property
    def full_height(self) -> int:
        """For all rows, of the largest group so far: the card does not change its size with each group."""
        return self._height_of(max(self._most_rows, _FEWEST_ROWS))

    def _height_of(self, rows: int) -> int:
        table = theme.px(tokens.TABLE_HEADER_HEIGHT) + rows * theme.px(tokens.ROW_DETAIL)
        return theme.px(tokens.CARD_HEADER_HEIGHT) + table + _AROUND

    def set_compact(self, compact: bool) -> None:
        """Show only the header where the window is low."""
        self.table.setVisible(not compact)
        self.setMaximumHeight(theme.px(tokens.CARD_HEADER_HEIGHT + 16) if compact else MOST_HEIGHT)

    def _show_time(self) -> None:
        if self._opened is not None:
            ago = f"submitted {duration(time.time() - self._opened.submitted_s)} ago"
            self.header.set_hint(f"step {self._opened.step}, {ago if self._is_stored else 'being saved'}")

    def _shape_table(self) -> None:
        table = self.table
        table.setModel(self.model)
        table.setAccessibleName(_TITLE)
        table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        make_plain(table, (TEXT,))
        table.setItemDelegateForColumn(TERM, AdvantageBarDelegate(table, VALUE_ROLE, self._limit))
        table.setItemDelegateForColumn(PROGRAM, RewardBarDelegate(table, VALUE_ROLE, self._bounds))

    def _restyle(self) -> None:
        self.table.verticalHeader().setDefaultSectionSize(theme.px(tokens.ROW_DETAIL))
        for column, width in _WIDTHS.items():
            self.table.setColumnWidth(column, theme.px(width))
        self.table.setMinimumHeight(theme.px(tokens.TABLE_HEADER_HEIGHT + 2 * tokens.ROW_DETAIL))
        self.table.viewport().update()

    def _limit(self, _: QModelIndex | QPersistentModelIndex) -> float:
        return advantage_limit(self._opened.group_size if self._opened is not None else 2)

    def _bounds(self) -> tuple[float, float]:
        return self._opened.bounds if self._opened is not None else (0.0, 1.0)


def agreement_text(opened: OpenedGroup) -> str:
    """How well the two orders of one group go together, in words."""
    tau = opened.tau
    if all(row.program is None for row in opened.rows):
        return "the program gave no reward"
    if tau is None:
        return "you or the program told none apart"
    words = "agree" if tau > _AGREE else "disagree" if tau < _DIFFER else "go your own ways"
    return f"you and the program {words} here: tau {number(tau)}"
