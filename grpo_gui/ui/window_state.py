"""Remembers the window's place and size and the splitters' positions between sessions."""

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings
from PySide6.QtWidgets import QMainWindow, QSplitter


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
        """Put every named splitter below `window` where it was; call again when a view was made."""
        for splitter in window.findChildren(QSplitter):
            saved = self._settings.value(f"splitters/{splitter.objectName()}")
            if splitter.objectName() and isinstance(saved, QByteArray):
                splitter.restoreState(saved)

    def save(self, window: QMainWindow) -> None:
        """Keep place, size and splitters."""
        self._settings.setValue("window/geometry", window.saveGeometry())
        for splitter in window.findChildren(QSplitter):
            if splitter.objectName():
                self._settings.setValue(f"splitters/{splitter.objectName()}", splitter.saveState())
        self._settings.sync()
