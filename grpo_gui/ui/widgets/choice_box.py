"""A choice on a page that scrolls."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox


class ChoiceBox(QComboBox):
    """Leaves the mouse wheel to the page, so that scrolling past it changes nothing, until it was clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Choose with the wheel only while it has the focus."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()
