"""A second Start button at the foot of a scrolled form, there only while the form's own one is out of sight."""

from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea

from grpo_gui.ui import icons, theme


class PinnedStart(QFrame):
    """Does what `start` does, and is named and enabled as it is."""

    def __init__(self, area: QScrollArea, start: QPushButton) -> None:
        super().__init__(area)
        self._area, self._start = area, start
        self.setProperty("look", "pinned")
        self.button = QPushButton()
        self.button.setObjectName("big")
        self.button.setProperty("look", "primary")
        self.button.setIconSize(start.iconSize())
        icons.keep_icon(self.button, self.button.setIcon, "start", "onaccent")
        self.button.clicked.connect(start.click)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, theme.px(8), 0, theme.px(8))
        row.addWidget(self.button)
        area.verticalScrollBar().valueChanged.connect(lambda _: self.refresh())
        for watched in (area.viewport(), area.widget(), start):
            if watched is not None:
                watched.installEventFilter(self)
        self.refresh()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look again when the form or its frame have another size, or the other button has changed."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.EnabledChange, QEvent.Type.Show):
            self.refresh()
        return super().eventFilter(watched, event)

    def refresh(self) -> None:
        """Take name and state of the other button, and stand at the foot while that one is not wholly in sight."""
        start, view = self._start, self._area.viewport()
        self.button.setText(start.text())
        self.button.setEnabled(start.isEnabled())
        self.button.setToolTip(start.toolTip())
        corner = start.mapTo(view, QPoint(0, 0))
        height = self.sizeHint().height()
        self.setGeometry(corner.x(), view.height() - height, start.width(), height)
        self.setVisible(corner.y() + start.height() > view.height())
        self.raise_()
