"""The tasks as cards that behave as radio buttons: arrow keys, one tab stop, one chosen."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QRadioButton, QSizePolicy, QWidget

from grpo_gui.ui import icons, theme, tokens


@dataclass(frozen=True, slots=True)
class TaskText:
    """How a task stands on its card."""

    name: str
    title: str
    example: str
    icon: str


TASKS = (
    TaskText("compare", "Compare numbers", "Which is bigger, 9.11 or 9.9?", "compare"),
    TaskText("sort", "Sort digits", "31427 to 12347", "sort"),
    TaskText("add", "Add", "38 + 45, one to three digits", "add"),
    TaskText("reverse", "Reverse", "abcd to dcba", "reverse"),
    TaskText("mix", "A mix", "several tasks with weights", "mix"),
    TaskText("file", "My prompts", "JSONL, CSV, JSON or Parquet", "file"),
)


class TaskCard(QRadioButton):
    """A radio button drawn as a card: icon and title over an example, a check mark when chosen."""

    def __init__(self, task: TaskText) -> None:
        super().__init__(task.title)
        self.task = task
        self._hovered = False
        self.setAccessibleName(task.title)
        self.setAccessibleDescription(task.example)
        self.setToolTip(f"{task.title}: {task.example}")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.follow(self, self.update)

    def sizeHint(self) -> QSize:
        """A third of the form, two lines high."""
        return QSize(theme.px(200), theme.px(64))

    def minimumSizeHint(self) -> QSize:
        """Shrink down to the title."""
        return QSize(theme.px(140), theme.px(64))

    def hitButton(self, position: QPoint) -> bool:
        """The whole card can be clicked."""
        return self.rect().contains(position)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Mark the card below the pointer."""
        self._hovered = True
        self.update()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Take the mark away."""
        self._hovered = False
        self.update()
        super().leaveEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the card."""
        now = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        marked = self.isChecked() or self.hasFocus()
        edge = "accent" if marked else "ctl" if self._hovered else "line2"
        width = 2 if self.hasFocus() and self.isChecked() else 1
        inset = width / 2
        painter.setPen(QPen(now.color(edge), width))
        painter.setBrush(now.color("surface"))
        painter.drawRoundedRect(
            self.rect().toRectF().adjusted(inset, inset, -inset, -inset), tokens.RADIUS_CARD - 2, tokens.RADIUS_CARD - 2
        )
        pad, icon = theme.px(12), theme.px(16)
        top = QRect(pad, theme.px(10), self.width() - 2 * pad, theme.px(20))
        tint = "accent" if self.isChecked() else "text2"
        painter.drawPixmap(pad, top.center().y() - icon // 2, icons.pixmap(self.task.icon, tint, 16))
        if self.isChecked():
            painter.drawPixmap(top.right() - icon + 4, top.center().y() - icon // 2, icons.pixmap("selected", "accent"))
        enabled = self.isEnabled()
        painter.setPen(now.color("text" if enabled else "text3"))
        painter.setFont(theme.font(13, 600))
        title = top.adjusted(icon + 8, 0, -icon, 0)
        painter.drawText(title, Qt.AlignmentFlag.AlignVCenter, self.task.title)
        painter.setPen(now.color("text2" if enabled else "text3"))
        painter.setFont(theme.font(11))
        below = QRect(pad, top.bottom() + 2, self.width() - 2 * pad, theme.px(18))
        text = painter.fontMetrics().elidedText(self.task.example, Qt.TextElideMode.ElideRight, below.width())
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, text)


class TaskCards(QWidget):
    """Six cards in two rows; `chosen` when the user picks another task."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Task")
        self._group = QButtonGroup(self)
        self.cards: dict[str, TaskCard] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(8)
        for position, task in enumerate(TASKS):
            card = TaskCard(task)
            card.toggled.connect(lambda on, name=task.name: self.chosen.emit(name) if on else None)
            self._group.addButton(card)
            self.cards[task.name] = card
            grid.addWidget(card, position // 3, position % 3)

    def show_chosen(self, name: str) -> None:
        """Mark a task without `chosen`."""
        self.blockSignals(True)
        self.cards[name].setChecked(True)
        self.blockSignals(False)
