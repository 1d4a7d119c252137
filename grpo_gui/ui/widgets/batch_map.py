"""The whole step at a glance: a row per prompt, a cell per completion, its shade the reward."""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from grpo_gui.events import GroupSample
from grpo_gui.ui import theme
from grpo_gui.ui.formatting import number
from grpo_gui.ui.models.completions_model import plain_tooltip
from grpo_gui.ui.models.group_focus import GroupFocus
from grpo_gui.ui.models.shown_step import has_signal, reward_bounds, right_count
from grpo_gui.ui.models.visible_text import one_line

_ROW_HEIGHT = 16
_CELL_GAP = 2
_TEXT_WIDTH = 92
_WORD_WIDTH = 84
_WIDEST_CELL = 20
_LEAST_TO_COMPARE = 2


class BatchMap(QWidget):
    """Rows that can be chosen by mouse and arrow keys; `group_chosen` gives the place of the group."""

    group_chosen = Signal(int)

    def __init__(self, focus: GroupFocus) -> None:
        super().__init__()
        self._focus = focus
        self._labels: list[str] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(theme.px(200))
        focus.changed.connect(self._refresh)
        theme.follow(self, self.update)

    def sizeHint(self) -> QSize:
        """A row per prompt."""
        return QSize(theme.px(280), theme.px(_ROW_HEIGHT) * max(len(self._labels), 1) + 2)

    def row_rect(self, place: int) -> QRect:
        """The place of a group's row."""
        height = theme.px(_ROW_HEIGHT)
        return QRect(0, 1 + place * height, self.width(), height)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows in view."""
        step = self._focus.step
        if step is None:
            return
        painter = QPainter(self)
        bounds = reward_bounds(step)
        shades = {reward: _shade(reward, bounds) for reward in {c.reward for c in step.completions}}
        fonts = theme.font(11, mono=True), theme.font(11)
        for place, group in enumerate(step.groups):
            rect = self.row_rect(place)
            if rect.intersects(event.rect()):
                self._paint_row(painter, rect, place, group, shades, fonts)
        if self.hasFocus():
            painter.setPen(QPen(theme.current().color("accent"), 1))
            painter.drawRect(self.row_rect(self._focus.place).adjusted(0, 0, -1, -1))

    def _paint_row(
        self,
        painter: QPainter,
        rect: QRect,
        place: int,
        group: GroupSample,
        shades: Mapping[float | None, QColor],
        fonts: tuple[QFont, QFont],
    ) -> None:
        now = theme.current()
        if place == self._focus.place:
            painter.fillRect(rect, now.color("soft"))
        text, cells, word = self._columns(rect)
        painter.setPen(now.color("text2"))
        painter.setFont(fonts[0])
        label = painter.fontMetrics().elidedText(self._labels[place], Qt.TextElideMode.ElideMiddle, text.width())
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, label)
        size = len(group.completions)
        width = min(cells.width() / size, float(theme.px(_WIDEST_CELL)))
        gap = _CELL_GAP if width > 3 * _CELL_GAP else 0
        for number_, completion in enumerate(group.completions):
            cell = QRectF(cells.x() + number_ * width, cells.y() + 2, width - gap, cells.height() - 4)
            painter.fillRect(cell, shades[completion.reward])
        painter.setPen(now.color("text2"))
        painter.setFont(fonts[1])
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(word, right, group_word(group))

    def _columns(self, rect: QRect) -> tuple[QRect, QRect, QRect]:
        text, word = theme.px(_TEXT_WIDTH), theme.px(_WORD_WIDTH)
        cells = QRect(rect.x() + 4 + text, rect.y(), rect.width() - text - word - 14, rect.height())
        return (
            QRect(rect.x() + 4, rect.y(), text - 6, rect.height()),
            cells,
            QRect(rect.right() - word - 4, rect.y(), word, rect.height()),
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click chooses the row under it."""
        place = self._place_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and place is not None:
            self.group_chosen.emit(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and Down choose the row above or below."""
        move = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        if move is None or not self._labels:
            super().keyPressEvent(event)
            return
        self.group_chosen.emit(min(max(self._focus.place + move, 0), len(self._labels) - 1))

    def event(self, event: QEvent) -> bool:
        """Show the whole prompt and the rewards as tooltip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            place = self._place_at(event.pos())
            QToolTip.showText(event.globalPos(), "" if place is None else plain_tooltip(self.words(place)), self)
            return True
        return super().event(event)

    def words(self, place: int) -> str:
        """A row in words: prompt, verdict and rewards."""
        step = self._focus.step
        if step is None:
            return ""
        group = step.groups[place]
        rewards = ", ".join(number(completion.reward) for completion in group.completions)
        return f"{group.prompt}\n{group_word(group)}; rewards {rewards}"

    def _place_at(self, point: QPoint) -> int | None:
        place = (point.y() - 1) // theme.px(_ROW_HEIGHT)
        return place if 0 <= place < len(self._labels) else None

    def _refresh(self) -> None:
        step = self._focus.step
        labels = telling_parts([group.prompt for group in step.groups]) if step is not None else []
        if len(labels) != len(self._labels):
            self.updateGeometry()
        self._labels = labels
        self.setAccessibleName(f"Map of the step, {len(labels)} prompts")
        self.setAccessibleDescription(self.words(self._focus.place) if step is not None else "")
        self.update()


def group_word(group: GroupSample) -> str:
    """The verdict on a group in two or three words."""
    if not has_signal(group):
        return "no signal"
    right = right_count(group.completions)
    return f"{right} of {len(group.completions)} right" if right is not None else ""


def telling_parts(prompts: list[str]) -> list[str]:
    """Prompts on one line without the words that all of them begin with."""
    lines = [one_line(prompt) for prompt in prompts]
    if len(set(lines)) < _LEAST_TO_COMPARE:
        return lines
    first, last = min(lines), max(lines)  # what these two share, all share
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    cut = first.rfind(" ", 0, same) + 1
    return [line[cut:] for line in lines]


def _shade(reward: float | None, bounds: tuple[float, float]) -> QColor:
    low, high = bounds
    if reward is None or reward != reward:
        return theme.current().color("sunken")
    return theme.current().mix("surface", "green", 0.14 + 0.86 * (reward - low) / (high - low))
