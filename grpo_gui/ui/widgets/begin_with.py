"""Other ways to begin than a new run."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel

from grpo_gui.ui import icons
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import label


class BeginWith(Card):
    """Opening another database; more beginnings join here as they come to exist."""

    database_clicked = Signal()

    def __init__(self) -> None:
        super().__init__("Or begin with")
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(0)
        mark = QLabel()
        icons.keep_icon(self, lambda icon: mark.setPixmap(icon.pixmap(16, 16)), "database")
        self.database = link("Another database", tooltip="Open another database file (Ctrl+O).")
        self.database.clicked.connect(self.database_clicked)
        grid.addWidget(mark, 0, 0, 2, 1)
        grid.addWidget(self.database, 0, 1, Qt.AlignmentFlag.AlignLeft)
        hint = label("open a .db file", "small")
        hint.setContentsMargins(4, 0, 0, 0)
        grid.addWidget(hint, 1, 1)
        grid.setColumnStretch(1, 1)
        self.body.addLayout(grid)
