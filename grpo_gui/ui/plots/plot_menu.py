"""The small menu of a plot: logarithmic scale where it makes sense, and hiding the plot."""

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton

from grpo_gui.ui import icons, theme
from grpo_gui.ui.widgets.card import Card


class PlotMenu(QToolButton):
    """A quiet button in a plot's header. `log` None leaves the scale out."""

    log_changed = Signal(bool)
    hide_asked = Signal()

    def __init__(self, card: Card, log: bool | None = None) -> None:
        super().__init__()
        title = card.header.title.text()
        self.setObjectName("plotmenu")
        self.setAccessibleName(f"Menu of the plot {title}")
        self.setToolTip("Hide this plot." if log is None else "Logarithmic scale, and hiding this plot.")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFixedSize(theme.px(20), theme.px(18))
        icons.keep_icon(self, self.setIcon, "more", "text3")
        menu = QMenu(self)
        self.setMenu(menu)
        self.log_action = QAction("Logarithmic scale", self)
        if log is not None:
            self.log_action.setCheckable(True)
            self.log_action.setChecked(log)
            self.log_action.toggled.connect(self.log_changed)
            menu.addAction(self.log_action)
        self.hide_action = menu.addAction("Hide this plot")
        self.hide_action.triggered.connect(self.hide_asked)

    def open_at(self, position: QPoint) -> None:
        """Open the menu at a place on the screen."""
        self.menu().popup(position)
