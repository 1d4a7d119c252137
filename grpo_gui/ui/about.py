"""What this program is, and its versions."""

from PySide6 import __version__ as pyside_version
from PySide6.QtWidgets import QMessageBox, QWidget

from grpo_gui import __version__


def show_about(parent: QWidget, torch_version: str, database: str) -> None:
    """Open the About box."""
    QMessageBox.about(
        parent,
        "About grpo-gui",
        f"<b>grpo-gui {__version__}</b><p>Run, watch, steer and judge GRPO on your own machine.</p>"
        f"<p>PySide6 {pyside_version}, torch {torch_version or 'loading'}<br>Database: {database}</p>"
        "<p>Apache License 2.0</p>",
    )
