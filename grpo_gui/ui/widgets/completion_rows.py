"""Paints the rows of the completions table: completions cell by cell, groups as one full-width row.

A whole row is painted in one call, with fonts and sizes made once for a theme: a delegate called for each cell
takes several times as long in Python, and the list must not hold up the window.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPolygonF

from grpo_gui.store.records import CompletionRow, GroupSummary
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.models.completion_columns import Column, cell_text, group_place, right_text, spread_text
from grpo_gui.ui.models.visible_text import one_line
from grpo_gui.ui.widgets.bars import paint_advantage_bar, paint_reward_bar

_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)


@dataclass(frozen=True, slots=True)
class Cell:
    """The place of a column in the row, in pixels."""

    column: Column
    x: int
    width: int


class RowPainter:
    """Paints with the fonts, colours and sizes of the theme it was made under; make another when that changes.

    `reward_bounds` are the ends of the reward bars, `advantage_limit` is the value of a full advantage bar.
    """

    def __init__(self) -> None:
        self.reward_bounds = (0.0, 1.0)
        self.advantage_limit = 1.0
        self.restyle()

    def restyle(self) -> None:
        """Make fonts, colours and sizes anew."""
        now = theme.current()
        self._plain, self._bold, self._small = theme.font(12), theme.font(12, 600), theme.font(11)
        self._small_bold, self._mono = theme.font(11, 600), theme.font(12, mono=True)
        self._mono_metrics, self._bold_metrics = QFontMetrics(self._mono), QFontMetrics(self._bold)
        self._small_metrics = QFontMetrics(self._small)
        self._colors = {name: now.color(name) for name in ("text", "text2", "text3", "warn", "soft", "win")}
        self._left_pad, self._right_pad = theme.px(9), theme.px(6)
        self._bar_width, self._number_width = theme.px(52), theme.px(46)
        self.height = theme.px(tokens.ROW_LIST)

    def paint_completion(
        self,
        painter: QPainter,
        rect: QRect,
        row: CompletionRow,
        cells: Sequence[Cell],
        *,
        grouped: bool,
        selected: bool,
    ) -> None:
        """Paint the cells of a completion in the row `rect`."""
        if selected:
            painter.fillRect(rect, self._colors["soft"])
        for cell in cells:
            inner = QRect(
                cell.x + self._left_pad, rect.y(), cell.width - self._left_pad - self._right_pad, rect.height()
            )
            self._paint_cell(painter, inner, row, cell.column, grouped=grouped, selected=selected)

    def paint_group(
        self, painter: QPainter, rect: QRect, summary: GroupSummary, *, opened: bool, selected: bool
    ) -> None:
        """Paint a group across the row: caret, place, prompt, how many are right, spread of the rewards."""
        painter.fillRect(rect, self._colors["soft" if selected else "win"])
        self._paint_caret(painter, QPointF(rect.x() + theme.px(13), rect.center().y() + 0.5), opened=opened)
        right = rect.adjusted(0, 0, -theme.px(10), 0)
        self._draw(painter, right, spread_text(summary), self._small, "text2" if summary.has_signal else "warn", _RIGHT)
        right.setRight(right.right() - theme.px(84))
        rights = right_text(summary)
        if rights:
            self._draw(painter, right, rights, self._small, "text2", _RIGHT)
            right.setRight(right.right() - self._small_metrics.horizontalAdvance(rights) - theme.px(12))
        place, left = group_place(summary), rect.x() + theme.px(26)
        width = self._small_metrics.horizontalAdvance(place)
        self._draw(painter, QRect(left, rect.y(), width + 2, rect.height()), place, self._small, "text2", _LEFT)
        start = left + max(theme.px(64), width + theme.px(12))
        area = QRect(start, rect.y(), max(0, right.right() - start), rect.height())
        prompt = self._elided(self._bold_metrics, one_line(summary.prompt), area.width())
        self._draw(painter, area, prompt, self._bold, "text", _LEFT)

    def _paint_cell(
        self, painter: QPainter, inner: QRect, row: CompletionRow, column: Column, *, grouped: bool, selected: bool
    ) -> None:
        text = cell_text(row, column, grouped=grouped)
        match column:
            case Column.TEXT | Column.PROMPT if not text:
                self._draw(painter, inner, "empty", self._plain, "text3", _LEFT)
            case Column.TEXT | Column.PROMPT:
                text = self._elided(self._mono_metrics, text, inner.width())
                self._draw(painter, inner, text, self._mono, "text", _LEFT)
            case Column.NUMBER:
                font = self._bold if selected else self._plain
                side = _RIGHT if grouped else _LEFT
                self._draw(painter, inner, text, font, "text" if selected else "text3", side)
            case Column.MARK:
                self._draw(painter, inner, text, self._small_bold, "warn", _LEFT)
            case _:
                if column == Column.REWARD:
                    paint_reward_bar(painter, self._bar_rect(inner), row.reward, *self.reward_bounds)
                elif column == Column.ADVANTAGE:
                    paint_advantage_bar(painter, self._bar_rect(inner), row.advantage, self.advantage_limit)
                self._draw(painter, inner, text, self._plain, "text", _RIGHT)

    def _draw(self, painter: QPainter, rect: QRect, text: str, font: QFont, color: str, flags: int) -> None:
        if text and rect.width() > 0:
            painter.setFont(font)
            painter.setPen(self._colors[color])
            painter.drawText(rect, flags, text)

    def _elided(self, metrics: QFontMetrics, text: str, width: int) -> str:
        # No letter is narrower than 2 px; measuring a text of thousands of letters would take as long as the page.
        return metrics.elidedText(text[: max(1, width // 2)], Qt.TextElideMode.ElideRight, width)

    def _bar_rect(self, inner: QRect) -> QRect:
        width = min(self._bar_width, max(1, inner.width() - self._number_width))
        return QRect(inner.x(), inner.y(), width, inner.height())

    def _paint_caret(self, painter: QPainter, center: QPointF, *, opened: bool) -> None:
        size = theme.px(3)
        if opened:
            points = [QPointF(-size, -size / 2), QPointF(0, size / 2 + 0.5), QPointF(size, -size / 2)]
        else:
            points = [QPointF(-size / 2, -size), QPointF(size / 2 + 0.5, 0), QPointF(-size / 2, size)]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._colors["text2"])
        painter.drawPolyline(QPolygonF([center + point for point in points]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
