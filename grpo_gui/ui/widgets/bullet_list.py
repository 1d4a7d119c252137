"""Sentences below each other, each with a dot before it and its further lines under its first one."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from grpo_gui.ui.widgets.labels import label


class BulletList(QWidget):
    """Shows other sentences whenever it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.sentences: list[str] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(6)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)

    def show_sentences(self, sentences: Sequence[str]) -> None:
        """Show these sentences; what is the same stays untouched."""
        if list(sentences) == self.sentences:
            return
        self.sentences = list(sentences)
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for row, sentence in enumerate(sentences):
            self._grid.addWidget(label("\u2022", "small"), row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(label(sentence, "small", wrap=True), row, 1)
