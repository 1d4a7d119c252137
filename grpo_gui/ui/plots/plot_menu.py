"""The small menu of a plot: logarithmic scale where it makes sense, a picture of it, and hiding it."""

from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox, QToolButton, QWidget

from grpo_gui.errors import BadInputError
from grpo_gui.ui import icons, theme
from grpo_gui.ui.plots.pictures import save_picture
from grpo_gui.ui.widgets.card import Card


class PlotMenu(QToolButton):
    """A button in the corner of a plot while the mouse is over it. `log` None leaves the scale out."""

    log_changed = Signal(bool)
    hide_asked = Signal()

    def __init__(self, card: Card, log: bool | None = None) -> None:
        super().__init__()
        title = card.header.title.text()
        self._card = card
        self.setObjectName("plotmenu")
        self.setAccessibleName(f"Menu of the plot {title}")
        self.setToolTip(("" if log is None else "Logarithmic scale, ") + "saving as a picture, hiding this plot.")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFixedSize(theme.px(22), theme.px(18))
        icons.keep_icon(self, self.setIcon, "more", "text2")
        self.hide()
        menu = QMenu(self)
        self.setMenu(menu)
        self.log_action = QAction("Logarithmic scale", self)
        if log is not None:
            self.log_action.setCheckable(True)
            self.log_action.setChecked(log)
            self.log_action.toggled.connect(self.log_changed)
            menu.addAction(self.log_action)
        self.save_action = menu.addAction("Save as picture\u2026")
        self.save_action.triggered.connect(self._save)
        self.hide_action = menu.addAction("Hide this plot")
        self.hide_action.triggered.connect(self.hide_asked)

    def attach(self, area: QWidget) -> None:
        """Appear in the upper right corner of a plot while the mouse is over it."""
        self.setParent(area)
        area.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Come and go with the mouse; the menu key and the right button open it too."""
        if event.type() == QEvent.Type.Enter and isinstance(watched, QWidget):
            self.move(watched.width() - self.width() - 4, 2)
            self.show()
        elif event.type() == QEvent.Type.Leave and not self.menu().isVisible():
            self.hide()
        return False

    def open_at(self, position: QPoint) -> None:
        """Open the menu at a place on the screen."""
        self.menu().popup(position)

    def _save(self) -> None:
        title = self._card.header.title.text().lower().replace(" ", "-")
        name, kind = QFileDialog.getSaveFileName(
            self._card, "Save plot", str(Path.home() / f"{title}.png"), "PNG (*.png);;SVG (*.svg)"
        )
        if not name:
            return
        target = Path(name)
        if target.suffix.lower() not in (".png", ".svg"):
            target = target.with_name(target.name + (".svg" if "svg" in kind else ".png"))
        try:
            save_picture(self._card, target)
        except BadInputError as error:
            QMessageBox.warning(self._card, "Save plot", str(error))
