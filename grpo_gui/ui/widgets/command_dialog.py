"""Shows the commands that a person must start on other machines, to copy."""

from collections.abc import Sequence

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.widgets.text_block import TextBlock

_LINES = 8


class CommandDialog(QDialog):
    """One command for all machines, or one for each, with a button that copies it."""

    def __init__(self, parent: QWidget, commands: Sequence[str]) -> None:
        super().__init__(parent)
        self.setWindowTitle("Start TRL on the machines")
        self.setMinimumWidth(theme.px(640))
        self.copy_buttons = [button("Copy", "copy", tooltip="Copy this command.") for _ in commands]
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(label("Start TRL on the machines", "cardtitle"))
        column.addWidget(label(_sentence(len(commands)), "label", wrap=True))
        for number, (command, copy) in enumerate(zip(commands, self.copy_buttons, strict=True), 1):
            text = TextBlock(f"Command {number}", 12, _LINES)
            text.show_text(command)
            frame = QFrame()
            frame.setProperty("look", "sunken")
            row = QHBoxLayout(frame)
            row.setContentsMargins(12, 8, 8, 8)
            row.setSpacing(8)
            row.addWidget(text, 1)
            row.addWidget(copy)
            column.addWidget(frame)
            copy.clicked.connect(lambda _, command=command: QGuiApplication.clipboard().setText(command))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)


def _sentence(count: int) -> str:
    where = "this command on every machine" if count == 1 else "each command on its machine, in this order"
    return (
        f"Run {where}, in a Python environment with grpo-gui[trl]. The job's folder must be reachable under the same "
        "path everywhere. The run begins when all have come together; the commands also stand in commands.txt beside "
        "the job."
    )
