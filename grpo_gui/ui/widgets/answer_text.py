"""An answer to be judged: plain text that wraps and scrolls, with marked places; a click on it is one on its card."""

import unicodedata
from collections.abc import Sequence

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QTextCharFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit

from grpo_gui.ui import theme
from grpo_gui.ui.models.rating_differences import Span

_CLICK_DISTANCE = 4
_TAB = 4  # blanks
_STRONG = {"L": False, "R": True, "AL": True}  # the classes of characters that tell a direction: is it to the left?


class AnswerText(QPlainTextEdit):
    """What looks like HTML, Markdown or LaTeX is shown as it is; each paragraph runs in its own direction."""

    clicked = Signal()

    def __init__(self, size: float = 15) -> None:
        super().__init__()
        self._size = size
        self._spans: Sequence[Span] = ()
        self._pressed: QPointF | None = None
        self.setObjectName("answer")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setPlaceholderText("(empty)")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setStyleSheet("QPlainTextEdit#answer { border: none; background: transparent; padding: 0; }")
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        self.document().setDocumentMargin(0)
        theme.follow(self, self._restyle)

    def show_answer(self, text: str, spans: Sequence[Span]) -> None:
        """Show a text that is safe already, from its beginning, with some places marked."""
        self._spans = spans
        option = self.document().defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        option.setAlignment(Qt.AlignmentFlag.AlignRight if is_right_to_left(text) else Qt.AlignmentFlag.AlignLeft)
        self.document().setDefaultTextOption(option)
        self.setPlainText(text)
        self._mark()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember where a click or a selection begins."""
        self._pressed = event.position() if event.button() == Qt.MouseButton.LeftButton else None
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A press without a drag is a click; a drag selects text."""
        super().mouseReleaseEvent(event)
        pressed, self._pressed = self._pressed, None
        if pressed is not None and (event.position() - pressed).manhattanLength() <= _CLICK_DISTANCE:
            self.clicked.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Two quick clicks are two clicks."""
        self.mousePressEvent(event)

    def _restyle(self) -> None:
        self.setFont(theme.font(self._size))
        self.setTabStopDistance(_TAB * self.fontMetrics().horizontalAdvance(" "))
        self._mark()

    def _mark(self) -> None:
        text, ground = self.toPlainText(), theme.current().color("soft")
        selections = []
        for start, end in self._spans:
            selection = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.document())
            cursor.setPosition(_utf16(text, start))
            cursor.setPosition(_utf16(text, end), QTextCursor.MoveMode.KeepAnchor)
            style = QTextCharFormat()
            style.setBackground(ground)
            selection.cursor, selection.format = cursor, style
            selections.append(selection)
        self.setExtraSelections(selections)


def is_right_to_left(text: str) -> bool:
    """Whether the first character that tells a direction belongs to a script that is read to the left."""
    kinds = (unicodedata.bidirectional(character) for character in text)
    return next((_STRONG[kind] for kind in kinds if kind in _STRONG), False)


def _utf16(text: str, place: int) -> int:
    """Qt counts in UTF-16: a sign beyond the first plane counts twice."""
    return place if text.isascii() else len(text[:place].encode("utf-16-le", "surrogatepass")) // 2
