"""A row of buttons that keep their words: where it is narrow, the last ones move into a menu."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QSizePolicy, QWidget

from grpo_gui.ui import tokens
from grpo_gui.ui.widgets.buttons import button


class OverflowRow(QWidget):
    """Shows as many of the buttons as fit, flush right; `more` opens the menu with the others."""

    def __init__(self, buttons: Sequence[QPushButton]) -> None:
        super().__init__()
        self._buttons = tuple(buttons)
        self.more = button("More", tooltip="The other buttons, for which there is no room.")
        self.menu = QMenu(self.more)
        self.menu.setToolTipsVisible(True)
        self.menu.aboutToShow.connect(self._fill)
        self.more.setMenu(self.menu)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(tokens.GAP)
        row.setSizeConstraint(QHBoxLayout.SizeConstraint.SetNoConstraint)  # narrower than its buttons is what it is for
        row.addStretch(1)
        for one in (*self._buttons, self.more):
            row.addWidget(one)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._arrange()

    def sizeHint(self) -> QSize:
        """The room for all buttons."""
        return QSize(self._width(len(self._buttons)), self.more.sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """The room for the menu alone."""
        return self.more.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show what fits."""
        super().resizeEvent(event)
        self._arrange()

    def event(self, event: QEvent) -> bool:
        """A button with another word takes another room."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange()
            self.updateGeometry()
        return super().event(event)

    def _width(self, count: int) -> int:
        """The width of the first `count` buttons, with the menu where these are not all."""
        shown = [*self._buttons[:count], *([] if count == len(self._buttons) else [self.more])]
        return sum(one.sizeHint().width() for one in shown) + tokens.GAP * (len(shown) - 1)

    def _arrange(self) -> None:
        count = len(self._buttons)
        while count and self._width(count) > self.width():
            count -= 1
        for place, one in enumerate(self._buttons):
            one.setVisible(place < count)
        self.more.setVisible(count < len(self._buttons))

    def _fill(self) -> None:
        self.menu.clear()
        for one in self._buttons:
            if one.isHidden():
                action = self.menu.addAction(one.icon(), one.text(), one.click)
                action.setEnabled(one.isEnabled())
                action.setToolTip(one.toolTip())
