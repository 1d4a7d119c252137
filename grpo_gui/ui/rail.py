"""The icon rail: one button a view, the settings at the bottom."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QLabel, QSizePolicy, QToolButton, QVBoxLayout

from grpo_gui.ui import icons, theme, tokens
from grpo_gui.ui.view_list import VIEWS, key_of

_MOST = 100  # a badge tells smaller numbers


class Rail(QFrame):
    """`chosen` names the view; the checked button shows where one is."""

    chosen = Signal(str)
    settings_clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("rail")
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(4, 8, 4, 8)
        column.setSpacing(4)
        self._group = QButtonGroup(self)
        self.buttons: dict[str, QToolButton] = {}
        self._badges: dict[str, QLabel] = {}
        for name, text in VIEWS:
            button = _rail_button(name, text, f"{text} ({key_of(name)})")
            button.setCheckable(True)
            button.clicked.connect(lambda _=False, view=name: self.chosen.emit(view))
            self._group.addButton(button)
            self.buttons[name] = button
            column.addWidget(button)
        column.addStretch(1)
        self.settings = _rail_button("settings", "Settings", "Theme, device, threads, database (Ctrl+,)")
        self.settings.clicked.connect(self.settings_clicked)
        column.addWidget(self.settings)
        theme.follow(self, self._widen)

    def _widen(self) -> None:
        """As wide as designed, or as the longest name needs in the system's font."""
        for child in (self, *self.buttons.values(), self.settings):
            child.ensurePolished()
        self.setFixedWidth(max(theme.px(tokens.RAIL_WIDTH), self._column.totalSizeHint().width()))

    def show_badge(self, name: str, count: int, tooltip: str) -> None:
        """Tell on a button how much awaits the user; 0 takes the badge away."""
        badge, button = self._badges.get(name), self.buttons[name]
        if badge is None:
            badge = self._badges[name] = QLabel(button)
            badge.setObjectName("badge")
            badge.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            theme.follow(badge, lambda: badge.setFont(theme.font(10, 600)))
        badge.setText(str(count) if count < _MOST else f"{_MOST - 1}+")
        badge.adjustSize()
        badge.move(button.width() - badge.width() - 1, 1)
        badge.setVisible(count > 0)
        title = dict(VIEWS)[name]
        button.setAccessibleName(f"{title}, {count} waiting" if count else title)
        button.setToolTip(f"{title} ({key_of(name)})" + (f"\n{tooltip}" if count else ""))

    def show_chosen(self, name: str) -> None:
        """Mark a view as the one on screen."""
        self.buttons[name].setChecked(True)


def _rail_button(icon: str, text: str, tooltip: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tooltip)
    button.setAccessibleName(text)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
    button.setIconSize(QSize(theme.px(20), theme.px(20)))
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    icons.keep_icon(button, button.setIcon, icon, "text2")
    return button
