"""Buttons of the window's look: links, icon buttons, segmented control, removable chips."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy

from grpo_gui.ui import icons


def button(text: str, icon: str = "", *, tooltip: str = "", primary: bool = False) -> QPushButton:
    """Return a bordered button; `primary` only once per view."""
    result = QPushButton(text)
    if primary:
        result.setProperty("look", "primary")
    if icon:
        icons.keep_icon(result, result.setIcon, icon, "onaccent" if primary else "text2")
    if tooltip:
        result.setToolTip(tooltip)
    return result


def link(text: str, icon: str = "", *, tooltip: str = "") -> QPushButton:
    """Return a button that reads as a link: softtext, no border, no underline until hovered."""
    result = QPushButton(text)
    result.setProperty("look", "link")
    result.setCursor(Qt.CursorShape.PointingHandCursor)
    result.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    if icon:
        icons.keep_icon(result, result.setIcon, icon, "softtext")
    if tooltip:
        result.setToolTip(tooltip)
    return result


class SegmentedControl(QFrame):
    """A row of words of which one is chosen; the arrow keys move the choice."""

    changed = Signal(str)

    def __init__(self, options: Sequence[tuple[str, str]], chosen: str, name: str) -> None:
        """Take (value, text) pairs, the chosen value, and the accessible name of the control."""
        super().__init__()
        self.setObjectName("segments")
        self.setAccessibleName(name)
        self._values = [value for value, _ in options]
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(1, 0, 1, 0)
        row.setSpacing(0)
        for position, (value, text) in enumerate(options):
            segment = QPushButton(text)
            segment.setCheckable(True)
            segment.setProperty("look", "segment")
            segment.setAccessibleName(f"{name}: {text}")
            segment.setChecked(value == chosen)
            self._group.addButton(segment, position)
            row.addWidget(segment)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._group.idToggled.connect(self._toggled)

    @property
    def value(self) -> str:
        """The chosen value."""
        return self._values[self._group.checkedId()]

    def choose(self, value: str) -> None:
        """Choose a value, as a click would."""
        self._group.button(self._values.index(value)).setChecked(True)

    def set_focus_policy(self, policy: Qt.FocusPolicy) -> None:
        """Say how the keyboard reaches the words; NoFocus leaves it where it is."""
        for segment in self._group.buttons():
            segment.setFocusPolicy(policy)

    def set_tooltip(self, value: str, tooltip: str) -> None:
        """Explain one of the values."""
        self._group.button(self._values.index(value)).setToolTip(tooltip)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the choice with the arrow keys."""
        moves = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        move = moves.get(Qt.Key(event.key()))
        if move is None:
            super().keyPressEvent(event)
            return
        position = min(max(self._group.checkedId() + move, 0), len(self._values) - 1)
        self._group.button(position).setChecked(True)
        self._group.button(position).setFocus()

    def _toggled(self, position: int, checked: bool) -> None:
        if checked:
            self.changed.emit(self._values[position])


class Chip(QFrame):
    """A filter that is on; its cross takes it off."""

    removed = Signal()

    def __init__(self, text: str) -> None:
        super().__init__()
        self.setObjectName("chip")
        self.text = text
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 2, 2, 2)
        row.setSpacing(2)
        words = QLabel(text)
        words.setProperty("look", "link")
        cross = QPushButton()
        cross.setProperty("look", "chip")
        cross.setAccessibleName(f"Remove the filter {text}")
        cross.setToolTip(f"Remove the filter \u201c{text}\u201d.")
        icons.keep_icon(cross, cross.setIcon, "remove", "softtext")
        cross.clicked.connect(self.removed)
        row.addWidget(words)
        row.addWidget(cross)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
