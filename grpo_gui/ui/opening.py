"""Opens folders in the system's file manager."""

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from grpo_gui.paths import log_folder


def open_folder(folder: Path) -> None:
    """Show a folder; one that does not exist yet is made."""
    folder.mkdir(parents=True, exist_ok=True)
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def open_log_folder() -> None:
    """Show the folder of the rotating log."""
    open_folder(log_folder())
