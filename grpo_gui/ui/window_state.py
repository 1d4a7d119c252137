"""Remembers the window's place and size, the splitters' positions and what was chosen in it between sessions."""

from pathlib import Path
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QByteArray, QSettings
from PySide6.QtWidgets import QMainWindow, QSplitter, QWidget

REMEMBERED = "remembered."  # how the object name of a widget begins that has choices to keep


@runtime_checkable
class Remembering(Protocol):
    """A widget whose choices outlive the window."""

    def choices(self) -> str:
        """What was chosen, as text."""

    def use_choices(self, text: str) -> None:
        """Choose what `choices` gave; a text of another version is left alone as far as it cannot be read."""


class WindowState:
    """An INI file of this user; a missing or damaged one means the defaults."""

    def __init__(self, path: Path) -> None:
        self._settings = QSettings(str(path), QSettings.Format.IniFormat)

    def restore(self, window: QMainWindow) -> None:
        """Put the window where it was."""
        geometry = self._settings.value("window/geometry")
        if isinstance(geometry, QByteArray):
            window.restoreGeometry(geometry)

    def restore_splitters(self, window: QMainWindow) -> None:
        """Put every named splitter below `window` where it was, and choose what was; call again for a new view."""
        for splitter in window.findChildren(QSplitter):
            saved = self._settings.value(f"splitters/{splitter.objectName()}")
            if splitter.objectName() and isinstance(saved, QByteArray):
                splitter.restoreState(saved)
        for widget in _remembering(window):
            saved = self._settings.value(widget.objectName())
            if isinstance(saved, str) and isinstance(widget, Remembering) and not widget.property("remembers"):
                widget.use_choices(saved)
            widget.setProperty("remembers", True)  # from now on the user's choice counts

    def save(self, window: QMainWindow) -> None:
        """Keep place, size, splitters and choices."""
        self._settings.setValue("window/geometry", window.saveGeometry())
        for splitter in window.findChildren(QSplitter):
            if splitter.objectName():
                self._settings.setValue(f"splitters/{splitter.objectName()}", splitter.saveState())
        for widget in _remembering(window):
            if isinstance(widget, Remembering):
                self._settings.setValue(widget.objectName(), widget.choices())
        self._settings.sync()


def _remembering(window: QMainWindow) -> list[QWidget]:
    return [child for child in window.findChildren(QWidget) if child.objectName().startswith(REMEMBERED)]
