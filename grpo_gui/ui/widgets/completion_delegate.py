"""Draws the rows of the completions table: completions cell by cell, groups as one full-width row."""

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPolygonF
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from grpo_gui.store.records import CompletionRow, GroupSummary
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.models.completion_columns import Column, group_place, right_text, spread_text
from grpo_gui.ui.models.completions_model import RECORD_ROLE
from grpo_gui.ui.models.visible_text import one_line
from grpo_gui.ui.widgets.bars import paint_advantage_bar, paint_reward_bar

Index = QModelIndex | QPersistentModelIndex

_NUMBER_WIDTH = 46  # what a cell with a bar leaves to its number
_BAR_WIDTH = 52
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class CompletionDelegate(QStyledItemDelegate):
    """Paints completions. `reward_bounds` are the ends of the reward bars, `advantage_limit` a full advantage bar."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.reward_bounds = (0.0, 1.0)
        self.advantage_limit = 1.0

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002  # every row is alike
        """Give the height of a list row."""
        return QSize(0, theme.px(tokens.ROW_LIST))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one cell of a completion."""
        row = index.data(RECORD_ROLE)
        if not isinstance(row, CompletionRow):
            return
        painter.save()
        try:
            self._paint_cell(painter, option, row, index)
        finally:
            painter.restore()

    def _paint_cell(self, painter: QPainter, option: QStyleOptionViewItem, row: CompletionRow, index: Index) -> None:
        rect, column = _rect(option), Column(index.column())
        is_selected = is_row_selected(option)
        if is_selected:
            painter.fillRect(rect, theme.current().color("soft"))
        inner = rect.adjusted(theme.px(9), 0, -theme.px(6), 0)
        text = str(index.data(Qt.ItemDataRole.DisplayRole) or "")
        match column:
            case Column.TEXT | Column.PROMPT if not text:
                draw_text(painter, inner, "empty", theme.font(12), "text3", _LEFT)
            case Column.TEXT | Column.PROMPT:
                draw_text(painter, inner, text, theme.font(12, mono=True), "text", _LEFT)
            case Column.REWARD:
                paint_reward_bar(painter, _bar_rect(inner), row.reward, *self.reward_bounds)
                draw_text(painter, inner, text, theme.font(12), "text", _RIGHT)
            case Column.ADVANTAGE:
                paint_advantage_bar(painter, _bar_rect(inner), row.advantage, self.advantage_limit)
                draw_text(painter, inner, text, theme.font(12), "text", _RIGHT)
            case Column.NUMBER:
                font = theme.font(12, 600 if is_selected else 400)
                side = Qt.AlignmentFlag(index.data(Qt.ItemDataRole.TextAlignmentRole))
                draw_text(painter, inner, text, font, "text" if is_selected else "text3", side)
            case Column.MARK:
                draw_text(painter, inner, text, theme.font(11, 600), "warn", _LEFT)
            case _:
                draw_text(painter, inner, text, theme.font(12), "text", _RIGHT)


def paint_group_row(painter: QPainter, rect: QRect, summary: GroupSummary, *, is_open: bool, is_selected: bool) -> None:
    """Paint a group across the whole row: caret, place, prompt, how many are right, spread of the rewards."""
    painter.save()
    try:
        painter.fillRect(rect, theme.current().color("soft" if is_selected else "win"))
        _paint_caret(painter, QPointF(rect.x() + theme.px(13), rect.center().y() + 0.5), is_open=is_open)
        _paint_group_texts(painter, rect, summary)
    finally:
        painter.restore()


def _paint_group_texts(painter: QPainter, rect: QRect, summary: GroupSummary) -> None:
    small, bold = theme.font(11), theme.font(12, 600)
    right = rect.adjusted(0, 0, -theme.px(10), 0)
    draw_text(painter, right, spread_text(summary), small, "text2" if summary.has_signal else "warn", _RIGHT)
    right.setRight(right.right() - theme.px(84))
    rights = right_text(summary)
    if rights:
        draw_text(painter, right, rights, small, "text2", _RIGHT)
        right.setRight(right.right() - QFontMetrics(small).horizontalAdvance(rights) - theme.px(12))
    place = group_place(summary)
    left = rect.x() + theme.px(26)
    width = QFontMetrics(small).horizontalAdvance(place)
    draw_text(painter, QRect(left, rect.y(), width + 2, rect.height()), place, small, "text2", _LEFT)
    start = left + max(theme.px(64), width + theme.px(12))
    area = QRect(start, rect.y(), max(0, right.right() - start), rect.height())
    draw_text(painter, area, one_line(summary.prompt), bold, "text", _LEFT)


def draw_text(painter: QPainter, rect: QRect, text: str, font: QFont, token: str, alignment: Qt.AlignmentFlag) -> None:
    """Draw one line of plain text, elided on the right where it does not fit."""
    if not text or rect.width() <= 0:
        return
    painter.setFont(font)
    painter.setPen(theme.current().color(token))
    shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, int(alignment | Qt.TextFlag.TextSingleLine), shown)


def is_row_selected(option: QStyleOptionViewItem) -> bool:
    """Tell whether the row that an option describes is selected."""
    return bool(option.state & QStyle.StateFlag.State_Selected)


def _rect(option: QStyleOptionViewItem) -> QRect:
    return QRect(option.rect)


def _bar_rect(inner: QRect) -> QRect:
    return QRect(
        inner.x(), inner.y(), min(theme.px(_BAR_WIDTH), max(1, inner.width() - theme.px(_NUMBER_WIDTH))), inner.height()
    )


def _paint_caret(painter: QPainter, center: QPointF, *, is_open: bool) -> None:
    size = theme.px(3)
    if is_open:
        points = [QPointF(-size, -size / 2), QPointF(0, size / 2 + 0.5), QPointF(size, -size / 2)]
    else:
        points = [QPointF(-size / 2, -size), QPointF(size / 2 + 0.5, 0), QPointF(-size / 2, size)]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QColor(theme.current().color("text2")))
    painter.drawPolyline(QPolygonF([center + point for point in points]))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
