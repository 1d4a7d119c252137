"""A centre between two sides that give way when the window gets narrow: the left to a button, the right to a tab."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSplitter, QVBoxLayout, QWidget

from grpo_gui.ui import theme, tokens
from grpo_gui.ui.widgets.buttons import SegmentedControl, button

# Widths of the view, which is the window without the rail.
LEFT_FROM = 1360 - tokens.RAIL_WIDTH
RIGHT_FROM = 1120 - tokens.RAIL_WIDTH
_CENTER, _RIGHT = "center", "right"
_LEAST = (420, 300)


class SidePanes(QWidget):
    """Three panes with splitters. Below `LEFT_FROM` a button shows the left one, below `RIGHT_FROM` tabs the right.

    The owner places `left_button` in the centre; it is visible only where it is needed.
    """

    def __init__(
        self, name: str, panes: tuple[QWidget, QWidget, QWidget], titles: tuple[str, str, str], widths: tuple[int, int]
    ) -> None:
        """Take left, centre and right pane, their titles, and the widths of the sides. `name` keeps the positions."""
        super().__init__()
        self._left, self._center, self._right = panes
        self._bar = QWidget()
        self.left_button = self._left_button(titles[0])
        self.tabs = SegmentedControl([(_CENTER, titles[1]), (_RIGHT, titles[2])], _CENTER, "Shown")
        self.tabs.changed.connect(self._arrange)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setObjectName(name)
        self.splitter.setHandleWidth(tokens.GAP)
        for place, pane in enumerate(panes):
            self.splitter.addWidget(pane)
            self.splitter.setStretchFactor(place, 1 if pane is self._center else 0)
            self.splitter.setCollapsible(place, pane is not self._center)
        self.splitter.setSizes([theme.px(widths[0]), theme.px(760), theme.px(widths[1])])
        bar = QHBoxLayout(self._bar)
        bar.setContentsMargins(0, tokens.GAP, 0, 0)
        bar.addWidget(self.tabs)
        bar.addStretch(1)
        self._column = QVBoxLayout(self)
        self._column.setSpacing(0)
        self._column.addWidget(self._bar)
        self._column.addWidget(self.splitter, 1)
        self.setMinimumSize(theme.px(_LEAST[0]), theme.px(_LEAST[1]))  # else the panes' own would forbid to give way
        self._was_wide: tuple[bool, bool] | None = None

    @property
    def is_left_wide(self) -> bool:
        """True when there is room for the left pane."""
        return self.width() >= theme.px(LEFT_FROM)

    @property
    def is_right_wide(self) -> bool:
        """True when there is room for the right pane beside the centre."""
        return self.width() >= theme.px(RIGHT_FROM)

    def show_right(self) -> None:
        """Bring the right pane to the front where it is a tab."""
        if not self.is_right_wide:
            self.tabs.choose(_RIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give way or come back when a limit is passed."""
        super().resizeEvent(event)
        is_wide = self.is_left_wide, self.is_right_wide
        if is_wide != self._was_wide:
            self._was_wide = is_wide
            self.left_button.setChecked(self.is_left_wide)
            self._arrange()

    def _left_button(self, title: str) -> QPushButton:
        result = button(title, "panel", tooltip=f"Show or hide the panel “{title}”.")
        result.setCheckable(True)
        result.toggled.connect(self._arrange)
        return result

    def _arrange(self) -> None:
        in_front = self.tabs.value
        has_left = self.left_button.isChecked()
        self._left.setVisible(has_left)
        self._column.setContentsMargins(0 if has_left else tokens.GAP, 0, tokens.GAP, 0)
        self.left_button.setVisible(not self.is_left_wide)
        self._right.setVisible(self.is_right_wide or in_front == _RIGHT)
        self._center.setVisible(self.is_right_wide or in_front == _CENTER)
        self._bar.setVisible(not self.is_right_wide)
