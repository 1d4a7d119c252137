"""Blind rating of pairs by hand: two texts side by side, arrow keys, the result only when enough were rated."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from grpo_gui.ui import icons, theme
from grpo_gui.ui.formatting import duration
from grpo_gui.ui.models.blind_session import BlindPair, BlindSession
from grpo_gui.ui.models.visible_text import paragraph
from grpo_gui.ui.widgets.key_cap import KeyCap
from grpo_gui.ui.widgets.labels import ElidedLabel, label, mono
from grpo_gui.ui.widgets.program_result import better_text, counts_text, interval_text

COMPARE_FIRST = "Compare first; then the completions that differ can be rated here without seeing whose they are."
GOALS = (10, 20, 40, 80)
DEFAULT_GOAL = 40

_KEYS = {
    Qt.Key.Key_Left: "left",
    Qt.Key.Key_Right: "right",
    Qt.Key.Key_Down: "equal",
    Qt.Key.Key_Space: "skip",
    Qt.Key.Key_Backspace: "undo",
}
_STRIP = (("\u2190", "left"), ("\u2192", "right"), ("\u2193", "equal"), ("Space", "skip"), ("Backspace", "undo"))


class BlindRating(QWidget):
    """Has the keyboard while it has the focus; `chosen` gives left, right, equal, skip or undo."""

    chosen = Signal(str)
    goal_changed = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Blind rating")
        self._is_open = False
        self.goal = QComboBox()
        self.place = label("", "value", "Pairs rated, of those until the result shows; skipped ones do not count.")
        self.progress = QProgressBar()
        self.note = label("", "label", wrap=True)
        self.prompt = mono("", 13)
        self.prompt.setWordWrap(True)
        self.left, self.right = _Side("\u2190", "Left is better"), _Side("\u2192", "Right is better")
        self.result = label("", "cardtitle")
        self.interval = ElidedLabel("", "hint")
        self.time_left = ElidedLabel("", "hint")
        self.time_left.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._pair, self._outcome, self._filler = QWidget(), QWidget(), QWidget()
        self._lay_out()
        self.left.clicked.connect(lambda: self._choose("left"))
        self.right.clicked.connect(lambda: self._choose("right"))
        self.goal.activated.connect(lambda: self.goal_changed.emit(int(self.goal.currentData())))
        self.show_nothing(COMPARE_FIRST)

    def show_nothing(self, sentence: str) -> None:
        """Show why there is nothing to rate."""
        self._show(pair=False, outcome=False)
        self.place.setText("")
        self.note.setText(sentence)
        self.note.show()

    def show_session(self, session: BlindSession, left_s: float | None) -> None:
        """Show the pair at hand, or the result when the goal is reached; `left_s` is about how long the rest takes."""
        current = session.current
        self.place.setText(f"{session.done} of {session.goal}")
        self.progress.setRange(0, max(session.goal, 1))
        self.progress.setValue(session.done)
        self.time_left.setText("" if left_s is None else f"about {duration(left_s)} left")
        if current is not None:
            self._show_pair(current)
        elif session.result is not None:
            self._show(pair=False, outcome=True)
            rate = session.result
            decided = rate.wins + rate.losses
            self.result.setText(better_text(rate) if decided else "You found all of them equal")
            self.interval.setText(f"of the pairs that you told apart, {interval_text(rate)}" if decided else "")
            self.note.setText(counts_text(rate))
            self.note.show()
        else:
            self.show_nothing("All pairs were skipped, or the completions do not differ; there is nothing to tell.")

    def event(self, event: QEvent) -> bool:
        """Keep the keys from the window's shortcuts: the space bar skips here and does not pause the training."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            event.setAccepted(self._is_open and _key_of(event) is not None)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose by key."""
        key = _key_of(event)
        if key is not None and self._is_open:
            self._choose(key)
        else:
            super().keyPressEvent(event)

    def _choose(self, key: str) -> None:
        if self._is_open or key == "undo":
            self.setFocus(Qt.FocusReason.OtherFocusReason)
            self.chosen.emit(key)

    def _show_pair(self, current: BlindPair) -> None:
        self._show(pair=True, outcome=False)
        self.note.hide()
        self.prompt.setText(paragraph(current.pair.prompt))
        self.left.show_text(current.left)
        self.right.show_text(current.right)

    def _show(self, *, pair: bool, outcome: bool) -> None:
        self._is_open = pair
        self._pair.setVisible(pair)
        self._filler.setVisible(not pair)
        self._outcome.setVisible(outcome)
        self.progress.setVisible(pair or outcome)

    def _lay_out(self) -> None:
        for goal in GOALS:
            self.goal.addItem(f"{goal} pairs", goal)
        self.goal.setCurrentIndex(GOALS.index(DEFAULT_GOAL))
        self.goal.setAccessibleName("Pairs until the result shows")
        self.goal.setToolTip("After so many pairs the result shows; until then it is hidden, not to sway you.")
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Pairs rated")
        eye = QLabel()
        theme.follow(eye, lambda: eye.setPixmap(icons.pixmap("blind", "text3", 14)))
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(label("By you, blind", "title"))
        head.addWidget(eye)
        head.addWidget(ElidedLabel("sides are shuffled", "hint"), 1)
        head.addWidget(self.place)
        head.addWidget(self.goal)
        sides = QHBoxLayout()
        sides.setSpacing(8)
        sides.addWidget(self.left, 1)
        sides.addWidget(self.right, 1)
        inner = QVBoxLayout(self._pair)
        inner.setContentsMargins(0, 4, 0, 0)
        inner.setSpacing(4)
        inner.addWidget(label("Prompt", "hint"))
        inner.addWidget(self.prompt)
        inner.addLayout(sides, 1)
        inner.addLayout(self._strip())
        outcome = QHBoxLayout(self._outcome)
        outcome.setContentsMargins(0, 4, 0, 0)
        outcome.addWidget(self.result)
        outcome.addWidget(self.interval, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.progress)
        column.addWidget(self._outcome)
        column.addWidget(self.note)
        column.addWidget(self._pair, 1)
        column.addWidget(self._filler, 1)

    def _strip(self) -> QHBoxLayout:
        strip = QHBoxLayout()
        strip.setSpacing(4)
        for key, meaning in _STRIP:
            strip.addWidget(KeyCap(key))
            strip.addWidget(label(meaning, "label"))
            strip.addSpacing(4)
        strip.addWidget(self.time_left, 1)
        return strip


class _Side(QFrame):
    """One completion in a card; a click is its arrow key."""

    clicked = Signal()

    def __init__(self, key: str, title: str) -> None:
        super().__init__()
        self.setProperty("look", "card")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(title)
        self.text = label("", "", wrap=True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        theme.follow(self.text, lambda: self.text.setFont(theme.font(15)))
        head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(KeyCap(key))
        head.addWidget(label(title, "title"))
        head.addStretch(1)
        page = QWidget()
        page.setProperty("look", "page")
        inner = QVBoxLayout(page)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(self.text)
        inner.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(page)
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(scroll, 1)
        column.addWidget(label("same prompt, same random numbers", "hint"))
        self.setMinimumHeight(theme.px(120))

    def show_text(self, text: str) -> None:
        """Show another completion."""
        self.text.setText(paragraph(text) if text else "(empty)")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose this side."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


def _key_of(event: QKeyEvent) -> str | None:
    if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
        return None
    return _KEYS.get(Qt.Key(event.key()))
