"""The samples that show a finding: a row each, that opens it among all completions."""

from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QVBoxLayout, QWidget

from grpo_gui.store.records import CompletionRef
from grpo_gui.ui import theme
from grpo_gui.ui.formatting import count, number
from grpo_gui.ui.models.completions_model import plain_tooltip
from grpo_gui.ui.models.visible_text import one_line

_ROW_HEIGHT = 24
_STEP_WIDTH, _CELL, _WORD_WIDTH = 44, 12, 70
_MOST_CELLS = 8


@dataclass(frozen=True, slots=True)
class SampleLine:
    """One group, or one completion of it (`chosen`, else None), as a row says it."""

    ref: CompletionRef
    text: str  # the prompt, or the completion
    rewards: tuple[float | None, ...]
    bounds: tuple[float, float]  # of the rewards' shades
    chosen: int | None
    word: str  # "1 distinct", "reward 1.00"
    tooltip: str


class SampleRows(QWidget):
    """`opened` gives the completion of a clicked row."""

    opened = Signal(object)  # CompletionRef

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[SampleRow] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)

    def show_lines(self, lines: tuple[SampleLine, ...]) -> None:
        """Show other samples."""
        while len(self.rows) < len(lines):
            row = SampleRow()
            row.clicked.connect(self._clicked)
            self.rows.append(row)
            self._column.addWidget(row)
        for place, row in enumerate(self.rows):
            row.setVisible(place < len(lines))
            if place < len(lines):
                row.show_line(lines[place])

    def _clicked(self) -> None:
        row = self.sender()
        if isinstance(row, SampleRow) and row.line is not None:
            self.opened.emit(row.line.ref)


class SampleRow(QAbstractButton):
    """Step, text, a cell per completion whose shade is the reward, and a word."""

    def __init__(self) -> None:
        super().__init__()
        self.line: SampleLine | None = None
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.follow(self, self.update)

    def show_line(self, line: SampleLine) -> None:
        """Show another sample."""
        if line != self.line:
            self.line = line
            self.setAccessibleName(f"Step {line.ref.group.step}: {one_line(line.text)}, {line.word}")
            self.setToolTip(plain_tooltip(line.tooltip))
            self.update()

    def sizeHint(self) -> QSize:
        """One line."""
        return QSize(theme.px(260), theme.px(_ROW_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        """The text gives way."""
        return QSize(theme.px(180), theme.px(_ROW_HEIGHT))

    def paintEvent(self, _: QPaintEvent) -> None:
        """Draw the row."""
        line = self.line
        if line is None:
            return
        now, painter = theme.current(), QPainter(self)
        box = self.rect()
        if self.underMouse():
            painter.fillRect(box, now.color("sunken"))
        if self.hasFocus():
            painter.setPen(now.color("accent"))
            painter.drawRect(box.adjusted(0, 0, -1, -1))
        cells = line.rewards[:_MOST_CELLS] if len(line.rewards) <= _MOST_CELLS else line.rewards[: _MOST_CELLS * 2]
        side = theme.px(_CELL if len(cells) <= _MOST_CELLS else _CELL // 2)
        word = QRect(box.right() - theme.px(_WORD_WIDTH), box.top(), theme.px(_WORD_WIDTH - 4), box.height())
        left = word.left() - len(cells) * side - theme.px(6)
        painter.setFont(theme.font(12))
        painter.setPen(now.color("text"))
        painter.drawText(box.adjusted(theme.px(4), 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, count(line.ref.group.step))
        text = QRect(theme.px(_STEP_WIDTH), box.top(), left - theme.px(_STEP_WIDTH + 8), box.height())
        painter.setFont(theme.font(12, mono=True))
        shown = painter.fontMetrics().elidedText(one_line(line.text), Qt.TextElideMode.ElideRight, text.width())
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, shown)
        self._paint_cells(painter, line, cells, left, side)
        painter.setFont(theme.font(11))
        painter.setPen(now.color("text2"))
        painter.drawText(word, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, line.word)

    def _paint_cells(
        self, painter: QPainter, line: SampleLine, cells: tuple[float | None, ...], left: int, side: int
    ) -> None:
        now, (low, high) = theme.current(), line.bounds
        for place, reward in enumerate(cells):
            cell = QRectF(left + place * side, (self.height() - side) / 2 + 1, side - 2, side - 2)
            known = reward is not None and reward == reward
            share = 0.14 + 0.86 * ((reward or 0.0) - low) / (high - low) if known else 0.0
            painter.fillRect(cell, now.mix("surface", "green", share) if known else now.color("sunken"))
            if place == line.chosen:
                painter.setPen(now.color("accent"))
                painter.drawRect(cell.adjusted(-1, -1, 0, 0))


def reward_word(reward: float | None) -> str:
    """What a row says of one completion."""
    return f"reward {number(reward)}"
