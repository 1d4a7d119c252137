"""Any stored text, wrapped and selectable, as high as it needs up to a number of lines; then it scrolls."""

import math

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.models.visible_text import paragraph


class TextBlock(QPlainTextEdit):
    """Plain text only: what looks like HTML is shown as it is, control characters as visible signs."""

    def __init__(self, name: str, size: float, max_lines: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._max_lines = max_lines
        self.setObjectName("textblock")
        self.setReadOnly(True)
        self.setPlaceholderText("empty")
        self.setTabChangesFocus(True)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setStyleSheet("QPlainTextEdit#textblock { border: none; background: transparent; padding: 0; }")
        self.document().setDocumentMargin(0)
        theme.follow(self, lambda: self._use_font(size))
        self.document().documentLayout().documentSizeChanged.connect(self._fit)

    def show_text(self, text: str) -> None:
        """Show a text from its beginning."""
        self.setPlainText(paragraph(text))
        self._fit()

    def sizeHint(self) -> QSize:
        """Ask for the height that is set already."""
        return QSize(theme.px(200), self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrower block needs more lines."""
        super().resizeEvent(event)
        self._fit()

    def _use_font(self, size: float) -> None:
        self.setFont(theme.font(size, mono=True))
        self._fit()

    def _fit(self) -> None:
        # A plain text document measures its height in lines, not in pixels.
        lines = min(max(1, math.ceil(self.document().size().height())), self._max_lines)
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + 4)
