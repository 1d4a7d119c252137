"""One answer to be rated: its key, how often it came, what was said of it, the text, and what stands out."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from grpo_gui.ui import icons, theme
from grpo_gui.ui.models.rating_draft import FLAG_TAGS, MOST_SCORE
from grpo_gui.ui.models.rating_slots import Slot
from grpo_gui.ui.widgets.answer_text import AnswerText
from grpo_gui.ui.widgets.key_cap import KeyCap
from grpo_gui.ui.widgets.labels import ElidedLabel, Pill, label, set_look

HEIGHT, LOW = 132, 92  # at least; low where the answer is one short line


class RateCard(QFrame):
    """`clicked` is the same as the card's key; `scored` and `flagged` are by mouse."""

    clicked = Signal()
    scored = Signal(int)
    flagged = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "card")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.key = KeyCap("")
        self.count = Pill("", "plain")
        self.equal = ElidedLabel("", "hint")
        self.flag_tag = Pill("", "warn")
        self.badge = Pill("", "accent")
        self.text = AnswerText()
        self.length = label("", "hint")
        self.footnote = ElidedLabel("", "hint")
        self.footnote.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.scores = [_score_button(value) for value in range(1, MOST_SCORE + 1)]
        self.flag = QPushButton()
        self._lay_out()
        self.text.clicked.connect(self.clicked)
        for value, score in enumerate(self.scores, 1):
            score.clicked.connect(lambda _=False, value=value: self.scored.emit(value))

    def show_slot(self, slot: Slot, *, is_low: bool) -> None:
        """Show another answer, of which nothing was said yet; `is_low` where one line is enough for it."""
        self.setMinimumHeight(theme.px(LOW if is_low else HEIGHT))
        self.key.setText(slot.key)
        self.count.setText(f"\u00d7{slot.count}")
        self.count.setVisible(slot.count > 1)
        self.equal.setText("equal answers" if slot.count > 1 else "")
        self.text.show_answer(slot.text, slot.differs)
        self.length.setText(slot.length)
        self.footnote.setText(slot.footnote)
        self.setAccessibleName(f"Answer {slot.key}, {slot.length}, given {slot.count} times")

    def show_judgement(self, badge: str, tag: str, *, is_chosen: bool, score: int | None, has_scores: bool) -> None:
        """Show what was said of the answer; `has_scores` offers the five buttons instead of a badge."""
        self.badge.set_state(badge, "accent")
        self.badge.setVisible(bool(badge) and not has_scores)
        self.flag_tag.set_state(tag if has_scores else f"flagged: {tag}", "warn")
        self.flag_tag.setVisible(bool(tag))
        for value, button in enumerate(self.scores, 1):
            button.setVisible(has_scores)
            button.setChecked(value == score)
        set_look(self, "card-chosen" if is_chosen else "card")
        self.setAccessibleDescription(", ".join(part for part in (badge, f"flagged: {tag}" if tag else "") if part))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click beside the text counts too."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()

    def _lay_out(self) -> None:
        self.flag.setProperty("look", "chip")
        self.flag.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.flag.setToolTip("Flag this answer with a reason (F).")
        self.flag.setAccessibleName("Flag this answer")
        icons.keep_icon(self.flag, self.flag.setIcon, "flag", "text3")
        menu = QMenu(self.flag)
        for tag in FLAG_TAGS:
            menu.addAction(tag).triggered.connect(lambda _=False, tag=tag: self.flagged.emit(tag))
        self.flag.clicked.connect(lambda: menu.popup(self.flag.mapToGlobal(self.flag.rect().bottomLeft())))
        self.flag_menu = menu
        head = _row(self.key, self.count)
        head.addWidget(self.equal, 1)
        for widget in (*self.scores, self.flag_tag, self.badge, self.flag):
            head.addWidget(widget)
        foot = _row(self.length)
        foot.addWidget(self.footnote, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 8, 8)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self.text, 1)
        column.addLayout(foot)
        self.setMinimumWidth(theme.px(120))


def _score_button(value: int) -> QPushButton:
    result = QPushButton(str(value))
    result.setObjectName("score")
    result.setCheckable(True)
    result.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    result.setFixedWidth(theme.px(24))
    result.setAccessibleName(f"Score {value} of {MOST_SCORE}")
    return result


def _row(*widgets: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(6)
    for widget in widgets:
        row.addWidget(widget)
    return row
