"""The keys of the Rate view with what they do; each is a button too. The primary button submits."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QEnterEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from grpo_gui.ui import tokens
from grpo_gui.ui.models.rating_draft import JudgeBy
from grpo_gui.ui.models.rating_session import BACKSPACE, ENTER, SPACE
from grpo_gui.ui.models.rating_slots import SLOT_KEYS
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.flow_layout import FlowLayout
from grpo_gui.ui.widgets.key_cap import KeyCap
from grpo_gui.ui.widgets.labels import label, set_look

HELP, MODE = "?", "M"
_COMMON = (("A", "all good"), ("Z", "all bad"), ("F", "flag"), ("N", "note"), (SPACE, "skip"), (BACKSPACE, "undo"))


class RateStrip(QFrame):
    """`pressed` gives the name of the key whose button was clicked."""

    pressed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "card")
        self.setAccessibleName("Keys")
        self.keys: dict[str, _KeyButton] = {}
        self._numbers = _KeyButton("1-6", "next best", self)
        self._numbers.setEnabled(False)  # the cards themselves are clicked for it
        self._tie = self._key("T", "tie")
        self.submit = button(
            "Submit and next", primary=True, tooltip="Keep the rating and show the next group (Enter)."
        )
        self.submit.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.submit.clicked.connect(lambda: self.pressed.emit(ENTER))
        self._left = QWidget()
        self._flow = FlowLayout(10, self._left)
        self._flow.addWidget(self._numbers)
        self._flow.addWidget(self._tie)
        for key, meaning in _COMMON:
            self._flow.addWidget(self._key(key, meaning))
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(8)
        row.addWidget(self._left, 1, Qt.AlignmentFlag.AlignVCenter)
        for widget in (self._key(HELP, ""), self.submit, KeyCap(ENTER)):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_mode(self, judge_by: JudgeBy, cards: int, *, can_submit: bool) -> None:
        """Say what the numbers do in a mode; the button works once there is something to keep."""
        last = SLOT_KEYS[max(cards - 1, 0)]
        numbers, meaning = {
            JudgeBy.RANKS: (_range(last), "next best"),
            JudgeBy.SCORES: ("1-5", "score"),
            JudgeBy.PAIRS: ("\u2190 \u2192", "the better one"),
            JudgeBy.LABELS: (_range(last), "good or not"),
        }[judge_by]
        self._numbers.show_key(numbers, meaning)
        self._tie.setVisible(judge_by in (JudgeBy.RANKS, JudgeBy.PAIRS))
        self._tie.show_key("T", "equal" if judge_by is JudgeBy.PAIRS else "tie")
        self.submit.setEnabled(can_submit)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keys that do not fit into the line go into a second one."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        height = self._flow.heightForWidth(self._left.width())
        if height != self._left.minimumHeight():
            self._left.setMinimumHeight(height)

    def _key(self, key: str, meaning: str) -> "_KeyButton":
        self.keys[key] = _KeyButton(key, meaning, self)
        self.keys[key].clicked.connect(lambda: self.pressed.emit(key))
        return self.keys[key]


class _KeyButton(QWidget):
    """A key cap with its meaning; it takes no focus, so that the keys stay where they are."""

    clicked = Signal()

    def __init__(self, key: str, meaning: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._cap, self._meaning = KeyCap(key), label(meaning, "label")
        self._meaning.setVisible(bool(meaning))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(f"{key}: {meaning or 'all keys'}")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(tokens.GAP // 2)
        row.addWidget(self._cap)
        row.addWidget(self._meaning)

    def show_key(self, key: str, meaning: str) -> None:
        """Show another key or meaning."""
        self._cap.setText(key)
        self._meaning.setText(meaning)
        self.setAccessibleName(f"{key}: {meaning}")

    def enterEvent(self, event: QEnterEvent) -> None:
        """Light up under the mouse."""
        set_look(self._meaning, "")
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Rest again."""
        set_look(self._meaning, "label")
        super().leaveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Press the key."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


def _range(last: str) -> str:
    return "1" if last == "1" else f"1-{last}"
