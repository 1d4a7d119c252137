"""What an empty view shows: one sentence on what is missing, one button that makes it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.labels import label

_LEAST_WIDTH = 360
_MOST_WIDTH = 420


class EmptyState(QWidget):
    """A centred sentence over one button; `clicked` when the button was pressed."""

    clicked = Signal()

    def __init__(self, sentence: str, action: str) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.setSpacing(12)
        self.sentence = label(sentence, "lead", wrap=True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.sentence.setMinimumWidth(theme.px(_LEAST_WIDTH))  # Qt would break it into a narrow column
        self.sentence.setMaximumWidth(theme.px(_MOST_WIDTH))
        self.action = button(action, primary=True)
        self.action.clicked.connect(self.clicked)
        column.addWidget(self.sentence)
        column.addWidget(self.action, 0, Qt.AlignmentFlag.AlignHCenter)
