"""One answer under its letter: the text as it comes, a row of 1 to 5, and afterwards whose it was."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout

from grpo_gui.ui import theme
from grpo_gui.ui.formatting import count, seconds_text
from grpo_gui.ui.models.answer_board import STARS, ShownAnswer
from grpo_gui.ui.models.visible_text import paragraph
from grpo_gui.ui.router_engine import CANCELLED, DONE, FAILED, STREAMING
from grpo_gui.ui.widgets.key_cap import KeyCap
from grpo_gui.ui.widgets.labels import ElidedLabel, label, set_look

_MEANINGS = {1: "useless", 2: "poor", 3: "fair", 4: "good", 5: "as good as it gets"}
LEAST_WIDTH = 196
LEAST_HEIGHT = 128
_LEAST_TEXT = 28


class AnswerCard(QFrame):
    """`rated` gives 1 to 5, `chosen` asks to be the current one."""

    rated = Signal(int)
    chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "card")
        self.letter = KeyCap("")
        self.title = ElidedLabel("", "label")
        self.text = _AnswerText()
        self.state = ElidedLabel("", "hint")
        self.state.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.error = label("", "warn", wrap=True)
        self.error.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.buttons: dict[int, QPushButton] = {}
        self._shown = ""
        self._lay_out()
        self.text.clicked.connect(self.chosen)
        self.setMinimumSize(theme.px(LEAST_WIDTH), theme.px(LEAST_HEIGHT))

    def show_answer(self, answer: ShownAnswer, *, is_current: bool, is_submitted: bool) -> None:
        """Show how far it is, whether it is the one to be rated, and whose it is once that is no secret."""
        self.letter.setText(answer.letter)
        self._show_text(answer)
        is_current = is_current and answer.can_be_rated and not is_submitted
        set_look(self, "card-chosen" if is_current else "card")
        self._show_title(answer, is_current=is_current, is_submitted=is_submitted)
        self.state.setText(_state_text(answer, is_submitted=is_submitted))
        for stars, button in self.buttons.items():
            button.setChecked(answer.stars == stars)
            button.setEnabled(not is_submitted)
            button.setVisible(answer.can_be_rated)
        self.setAccessibleName(f"Answer {answer.letter}, {self.title.text()}, {self.state.text()}")
        self.setAccessibleDescription(answer.sentence or answer.text)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click makes it the current one."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.chosen.emit()

    def _show_text(self, answer: ShownAnswer) -> None:
        self.error.setText(answer.sentence)
        self.error.setVisible(bool(answer.sentence))
        self.text.setVisible(bool(answer.text) or not answer.sentence)
        text = paragraph(answer.text) if answer.text or not answer.is_final else "(empty)"
        if text.startswith(self._shown) and self._shown:
            self.text.append(text[len(self._shown) :])
        elif text != self._shown:
            self.text.setPlainText(text)
        self._shown = text

    def _show_title(self, answer: ShownAnswer, *, is_current: bool, is_submitted: bool) -> None:
        rated = f"rated {answer.stars}" if answer.stars is not None else "skipped" if answer.is_skipped else ""
        if is_submitted:
            self.title.setText(", ".join(part for part in (answer.model, rated) if part))
            set_look(self.title, "title")
        elif is_current:
            self.title.setText(f"rate now: 1 to 5{f' ({rated})' if rated else ''}")
            set_look(self.title, "link")
        else:
            self.title.setText(rated if answer.can_be_rated else "no answer")
            set_look(self.title, "label")

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.letter)
        head.addWidget(self.title, 1)
        foot = QHBoxLayout()
        foot.setSpacing(4)
        for stars in STARS:
            button = QPushButton(str(stars))
            button.setProperty("look", "grade")
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.setToolTip(f"{stars}: {_MEANINGS[stars]}")
            button.clicked.connect(lambda _=False, value=stars: self.rated.emit(value))
            self.buttons[stars] = button
            foot.addWidget(button)
        foot.addWidget(self.state, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self.error)
        column.addWidget(self.text, 1)
        column.addLayout(foot)


class _AnswerText(QPlainTextEdit):
    """Plain text that grows at its end while it is read from its beginning."""

    clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("answer")
        self.setReadOnly(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setStyleSheet("QPlainTextEdit#answer { border: none; background: transparent; padding: 0; }")
        self.document().setDocumentMargin(0)
        theme.follow(self, lambda: self.setFont(theme.font(13)))

    def sizeHint(self) -> QSize:
        """A few lines: the card gives what room there is, and beyond it the text scrolls."""
        return QSize(theme.px(120), theme.px(_LEAST_TEXT))

    def minimumSizeHint(self) -> QSize:
        """As small as that."""
        return self.sizeHint()

    def append(self, text: str) -> None:
        """Add text at the end, without moving what is read or selected."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(text)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click that selects nothing chooses the answer."""
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self.clicked.emit()


def _state_text(answer: ShownAnswer, *, is_submitted: bool) -> str:
    words = {DONE: "done", STREAMING: "streaming", CANCELLED: "stopped", FAILED: "failed"}.get(answer.state, "waiting")
    tokens = f", {count(answer.tokens)} {'token' if answer.tokens == 1 else 'tokens'}" if answer.tokens else ""
    time = f", {seconds_text(answer.seconds)}" if is_submitted and answer.seconds else ""
    return f"{words}{tokens}{time}"
