"""Other ways to begin than a new run."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton

from grpo_gui.ui import icons
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import label

_BEGINNINGS = (
    ("follow", "following", "Follow a run", "TRL or verl, also on another machine", "Watch a run while it goes on."),
    ("import", "import", "Import a finished run", "or drop its folder on this window", "Take a run in (Ctrl+I)."),
    ("model", "base", "My own model", "a Hugging Face folder or GGUF file", "Choose it as the policy."),
    ("database", "database", "Another database", "open a .db file", "Open another database file (Ctrl+O)."),
)


class BeginWith(Card):
    """`chosen` names what was clicked: follow, import, model or database."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__("Or begin with")
        self.links: dict[str, QPushButton] = {}
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(0)
        for place, (name, icon, text, more, tooltip) in enumerate(_BEGINNINGS):
            self.links[name] = link(text, tooltip=tooltip)
            self.links[name].clicked.connect(partial(self._clicked, name))
            hint = label(more, "small")
            hint.setContentsMargins(4, 0, 0, 4)
            grid.addWidget(_mark(icon), 2 * place, 0, 2, 1)
            grid.addWidget(self.links[name], 2 * place, 1, Qt.AlignmentFlag.AlignLeft)
            grid.addWidget(hint, 2 * place + 1, 1)
        grid.setColumnStretch(1, 1)
        self.body.addLayout(grid)

    def _clicked(self, name: str) -> None:
        self.chosen.emit(name)


def _mark(name: str) -> QLabel:
    mark = QLabel()
    icons.keep_icon(mark, lambda icon: mark.setPixmap(icon.pixmap(16, 16)), name)
    return mark
