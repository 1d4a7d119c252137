"""The overlay that `?` opens: the keys of the window and of the view on screen. Esc closes it."""

from collections.abc import Sequence

import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QFrame, QGridLayout, QVBoxLayout, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.view_list import VIEWS, all_keys
from grpo_gui.ui.widgets.labels import label, mono

KEYS = (
    ("Everywhere", (
        (all_keys(), ", ".join(title for _, title in VIEWS)),
        ("Ctrl+N", "set up a new run"),
        ("Ctrl+I", "import or follow a run"),
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
    ("Rate", (
        ("1 to 9, 0, Q, W, ...", "the card of that key: next best, or good; scores 1 to 5"),
        ("T", "tie with the last; of a pair: equal"),
        ("Arrows", "of a pair: left, right, down for equal; else another card"),
        ("A, Z", "all good, all bad"),
        ("F, N", "flag a card with a reason, write a note"),
        ("Enter", "submit, next group"),
        ("Space", "skip the group (training goes on)"),
        ("Backspace", "take back the last key, then the rating before, and so on"),
        ("Ctrl+Z", "take back the rating before at once"),
        ("M", "judge another way: rank, scores, pairs, good or bad"),
        ("Page Up, Page Down", "scroll the cards"),
    )),
    ("Router", (
        ("Enter", "ask the query; submit the ratings"),
        ("1 to 5, Tab, arrows", "rate the answer, go to the next"),
        ("Space, Backspace", "skip an answer, take the last rating back"),
        ("Esc", "stop the answers"),
    )),
    ("Runs", (
        ("Space", "lay the selected runs over the others, or take them away"),
        ("Enter", "open the run in the Train view"),
        ("T, F2", "give tags, rename"),
        ("Delete", "move to the bin"),
        ("/", "search the runs"),
        ("Left, Right", "move the crosshair in a plot; Home shows everything"),
    )),
    ("Snapshots", (
        ("A, B", "compare the selected snapshot as A or as B"),
        ("Left, Right, Down", "left is better, right is better, equal"),
        ("Space, Backspace", "skip a pair, take the last choice back"),
        ("P", "pin or unpin"),
        ("Delete", "move to the trash"),
    )),
)  # fmt: skip

_KEY_WIDTH = 150
_SECTIONS = {"train": ("New run", "Plots")}  # of a view; else the section has the view's title


class KeysOverlay(QFrame):
    """Lies in the middle of its window until Esc, `?` or a click; `view` names the view whose keys it shows."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._focus: QWidget | None = None
        self.view = "train"
        self.sections: dict[str, QWidget] = {}
        self.setProperty("look", "overlay")
        self.setAccessibleName("Keys")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 20)
        column.setSpacing(12)
        column.addWidget(label("Keys", "cardtitle"))
        for title, keys in KEYS:
            self.sections[title] = _section(title, keys)
            column.addWidget(self.sections[title])
        self.hide()

    def toggle(self) -> None:
        """Open in the middle of the window, or close."""
        if self.isVisible():
            self.hide()
            return
        self._focus = QApplication.focusWidget()
        names = _SECTIONS.get(self.view, tuple(title for name, title in VIEWS if name == self.view))
        for title, section in self.sections.items():
            section.setVisible(title == "Everywhere" or title in names)
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

    def hideEvent(self, event: QHideEvent) -> None:
        """Give the keyboard back to whoever had it."""
        super().hideEvent(event)
        focus, self._focus = self._focus, None
        if focus is not None and shiboken6.isValid(focus) and focus.isVisible():
            focus.setFocus(Qt.FocusReason.PopupFocusReason)

    def mousePressEvent(self, _event: QMouseEvent) -> None:
        """Close by a click."""
        self.hide()


def _section(title: str, keys: Sequence[tuple[str, str]]) -> QWidget:
    section = QWidget()
    grid = QGridLayout(section)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(24)
    grid.setVerticalSpacing(6)
    grid.setColumnMinimumWidth(0, theme.px(_KEY_WIDTH))
    grid.setColumnStretch(1, 1)
    grid.addWidget(label(title, "hint"), 0, 0, 1, 2)
    for row, (key, meaning) in enumerate(keys, 1):
        grid.addWidget(mono(key), row, 0)
        grid.addWidget(label(meaning, "label"), row, 1)
    return section
