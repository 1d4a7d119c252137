"""Sentences for the user across the top of the window: what failed and what to do next."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMessageBox, QWidget

from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.icon_mark import IconMark
from grpo_gui.ui.widgets.labels import label, set_look


class MessageBar(QFrame):
    """Shows one message at a time until it is dismissed or replaced; a bug also offers its details."""

    def __init__(self) -> None:
        super().__init__()
        self._details = ""
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 8, 6)
        row.setSpacing(8)
        self._mark = IconMark(16)
        self.text = label("", "", wrap=True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details = link("Details", tooltip="Show what the log says.")
        self.dismiss = link("Dismiss", tooltip="Hide this message (it stays in the log).")
        row.addWidget(self._mark)
        row.addWidget(self.text, 1)
        row.addWidget(self.details)
        row.addWidget(self.dismiss)
        self.details.clicked.connect(self._show_details)
        self.dismiss.clicked.connect(self.hide)
        self.hide()

    def show_message(self, text: str, details: str = "", kind: str = "warn") -> None:
        """Show a sentence; `kind` is warn or bad, `details` a traceback or empty."""
        self._details = details
        set_look(self, f"banner-{kind}")
        self._mark.show_icon("warning" if kind == "warn" else "error", kind)
        self.text.setText(text)
        self.setAccessibleName(text)
        self.details.setVisible(bool(details))
        self.show()

    def _show_details(self) -> None:
        show_bug(self.window(), self.text.text(), self._details)


def show_bug(parent: QWidget | None, sentence: str, details: str) -> QMessageBox:
    """Open a window with a bug's details that can be copied; does not block."""
    box = QMessageBox(
        QMessageBox.Icon.Warning, "grpo-gui: an error", sentence, QMessageBox.StandardButton.Close, parent
    )
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setDetailedText(details)
    box.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    box.setWindowModality(Qt.WindowModality.NonModal)
    box.show()
    return box
