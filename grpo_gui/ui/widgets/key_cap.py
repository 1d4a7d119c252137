"""A key as it stands on the keyboard."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy

from grpo_gui.ui import theme


class KeyCap(QLabel):
    """A bordered letter or name of a key."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setObjectName("keycap")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        theme.follow(self, lambda: self.setFont(theme.font(11, mono=True)))
