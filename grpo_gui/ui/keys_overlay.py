"""The overlay that `?` opens: every key of the window. Esc closes it."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from grpo_gui.ui.view_list import VIEWS, all_keys
from grpo_gui.ui.widgets.labels import label, mono

KEYS = (
    ("Everywhere", (
        (all_keys(), ", ".join(title for _, title in VIEWS)),
        ("Ctrl+N", "set up a new run"),
        ("Space", "pause or resume (not in a field)"),
        (".", "do one step, then pause"),
        ("Ctrl+S", "make a snapshot"),
        ("/", "search the completions"),
        ("Ctrl+,", "settings"),
        ("F11", "full screen"),
        ("?", "these keys"),
        ("Esc", "close what lies on top"),
    )),
    ("New run", (
        ("Arrow keys", "choose the task"),
        ("Enter", "start training"),
    )),
    ("Plots", (
        ("Wheel, drag", "zoom and move along the steps"),
        ("Click", "show the group of that step"),
    )),
    ("Completions", (
        ("J, K", "next, previous completion"),
        ("Enter", "open or close a group"),
        ("G", "groups or a flat list"),
    )),
    ("Router", (
        ("Enter", "ask the query; submit the ratings"),
        ("1 to 5, Tab, arrows", "rate the answer, go to the next"),
        ("Space, Backspace", "skip an answer, take the last rating back"),
        ("Esc", "stop the answers"),
    )),
    ("Snapshots", (
        ("A, B", "compare the selected snapshot as A or as B"),
        ("Left, Right, Down", "left is better, right is better, equal"),
        ("Space, Backspace", "skip a pair, take the last choice back"),
        ("P", "pin or unpin"),
        ("Delete", "move to the trash"),
    )),
)  # fmt: skip


class KeysOverlay(QFrame):
    """Lies in the middle of its window until Esc, `?` or a click."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setProperty("look", "overlay")
        self.setAccessibleName("Keys")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        grid = QGridLayout(self)
        grid.setContentsMargins(24, 16, 24, 20)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(6)
        grid.addWidget(label("Keys", "cardtitle"), 0, 0, 1, 2)
        row = 1
        for title, keys in KEYS:
            heading = label(title, "hint")
            heading.setContentsMargins(0, 8, 0, 0)
            grid.addWidget(heading, row, 0, 1, 2)
            for key, meaning in keys:
                row += 1
                grid.addWidget(mono(key), row, 0)
                grid.addWidget(label(meaning, "label"), row, 1)
            row += 1
        self.hide()

    def toggle(self) -> None:
        """Open in the middle of the window, or close."""
        if self.isVisible():
            self.hide()
            return
        self.adjustSize()
        area = self._window.rect()
        self.move((area.width() - self.width()) // 2, max(8, (area.height() - self.height()) // 2))
        self.show()
        self.raise_()
        self.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close by Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, _event: QMouseEvent) -> None:
        """Close by a click."""
        self.hide()
