"""The prompt of a group: as high as it needs up to a few lines, then it scrolls; plain text only."""

import math

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from grpo_gui.ui import theme
from grpo_gui.ui.widgets.answer_text import AnswerText

_SIZE = 16
_MOST_LINES = 4


class PromptText(AnswerText):
    """Larger than the answers, and only to be read."""

    def __init__(self) -> None:
        super().__init__(_SIZE)
        self.setAccessibleName("Prompt")
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        theme.follow(self, self._fit)

    def show_prompt(self, text: str) -> None:
        """Show another prompt from its beginning."""
        self.show_answer(text, ())
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrower text needs more lines."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        # A plain text document measures its height in lines, not in pixels.
        lines = min(max(1, math.ceil(self.document().size().height())), _MOST_LINES)
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + 4)
