"""What to do about a finding: one sentence, when it would hold, and buttons where the program can do it."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from grpo_gui.ui import icons
from grpo_gui.ui.models.remedies import Remedy
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.flow_layout import FlowLayout
from grpo_gui.ui.widgets.labels import label


class RemedyBox(QFrame):
    """`chosen` gives the remedy of the pressed button."""

    chosen = Signal(object)  # Remedy

    def __init__(self, last: QPushButton) -> None:
        """`last` stands behind the buttons that do something, also where there is none."""
        super().__init__()
        self.setProperty("look", "remedy")
        self._remedies: tuple[Remedy, ...] = ()
        self.sentence = label("", "", wrap=True)
        self.hint = label("", "hint", wrap=True)
        self.first, self.second = button("", primary=True), button("")
        icon = label()
        icons.keep_icon(icon, lambda one: icon.setPixmap(one.pixmap(16, 16)), "remedy", "softtext")
        title = QHBoxLayout()
        title.setSpacing(6)
        title.addWidget(icon)
        title.addWidget(label("What to do", "title"), 1)
        buttons = QWidget()
        flow = FlowLayout(8, buttons)  # two long ones do not fit beside each other
        flow.addWidget(self.first)
        flow.addWidget(self.second)
        flow.addWidget(last)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(6)
        column.addLayout(title)
        column.addWidget(self.sentence)
        column.addWidget(self.hint)
        column.addWidget(buttons)
        self.first.clicked.connect(partial(self._choose, 0))
        self.second.clicked.connect(partial(self._choose, 1))

    def _choose(self, place: int) -> None:
        if place < len(self._remedies):
            self.chosen.emit(self._remedies[place])

    def show_action(self, sentence: str) -> None:
        """Show another proposal."""
        self.sentence.setText(sentence)

    def show_remedies(self, remedies: Sequence[Remedy], hint: str) -> None:
        """Show up to two buttons, or only `hint`."""
        self._remedies = tuple(remedies[:2])
        for place, one in enumerate((self.first, self.second)):
            one.setVisible(place < len(self._remedies))
            if place < len(self._remedies):
                _label(one, self._remedies[place])
        self.hint.setText(hint or (self._remedies[0].hint if self._remedies else ""))
        self.hint.setVisible(bool(self.hint.text()))


def _label(one: QPushButton, remedy: Remedy) -> None:
    one.setText(remedy.label)
    one.setToolTip(remedy.hint)
