"""A field in which one searches."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit

from grpo_gui.ui import icons, theme


class SearchField(QLineEdit):
    """A field with a magnifying glass; `escaped` when Escape is pressed in it."""

    escaped = Signal()

    def __init__(self, words: str, tooltip: str) -> None:
        """Show `words` while it is empty; they name it to screen readers too."""
        super().__init__()
        self.setPlaceholderText(words)
        self.setAccessibleName(words)
        self.setToolTip(tooltip)
        self.setClearButtonEnabled(True)
        self.setMinimumWidth(theme.px(120))
        glass = self.addAction(icons.icon("search", "text3"), QLineEdit.ActionPosition.LeadingPosition)
        icons.keep_icon(self, glass.setIcon, "search", "text3")

    def event(self, event: QEvent) -> bool:
        """Keep Escape for the field: it would be a shortcut of the view otherwise."""
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_escape and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell of Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
            return
        super().keyPressEvent(event)
