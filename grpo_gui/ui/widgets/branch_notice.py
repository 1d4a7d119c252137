"""Tells in the run form that the run will be a branch of another one, and lets go of that."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout

from grpo_gui.ui.models.branch_point import BranchPoint
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.labels import label


class BranchNotice(QFrame):
    """One line on a sunken ground; hidden for a run of its own."""

    dropped = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "sunken")
        self.sentence = label("", "label", wrap=True)
        self.drop = link("No branch", "remove", tooltip="Keep the settings, but begin with the model itself at step 0.")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.addWidget(self.sentence, 1)
        row.addWidget(self.drop)
        self.drop.clicked.connect(self.dropped)
        self.show_branch(None)

    def show_branch(self, branch: BranchPoint | None) -> None:
        """Show what a branch takes over, or nothing."""
        self.setVisible(branch is not None)
        self.sentence.setText("" if branch is None else branch.sentence())
