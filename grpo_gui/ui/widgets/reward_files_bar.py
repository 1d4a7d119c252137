"""Below the reward sources: take functions of a Python file, confirm it, try all rewards on the bench."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from grpo_gui.errors import BadInputError
from grpo_gui.training.config import RewardSpec
from grpo_gui.training.reward_files import specs_of_file, unconfirmed_files
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.confirm_file import ask_for
from grpo_gui.ui.widgets.labels import label


class RewardFilesBar(QWidget):
    """`specs_added` gives the sources of a chosen file, `confirmed` after a confirmation, `bench_clicked`."""

    specs_added = Signal(object)
    confirmed = Signal()
    bench_clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._specs: tuple[RewardSpec, ...] = ()
        self.choose = link(
            "Functions of a Python file\u2026",
            "file",
            tooltip="Take every function of a file that takes completions and returns one number a completion.",
        )
        self.confirm = link(
            "Look at the file and confirm it\u2026", "warning", tooltip="Its code runs only after that."
        )
        self.bench = link(
            "Try the rewards\u2026", "start", tooltip="Score typed text and the usual tricks before the run."
        )
        self.problem = label("", "error", wrap=True)
        self.problem.hide()
        row = QHBoxLayout()
        row.setSpacing(12)
        for widget in (self.choose, self.confirm, self.bench):
            row.addWidget(widget)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(row)
        column.addWidget(self.problem)
        self.choose.clicked.connect(self._choose)
        self.confirm.clicked.connect(self._confirm)
        self.bench.clicked.connect(self.bench_clicked)
        self.show_specs(())

    def show_specs(self, specs: Sequence[RewardSpec]) -> None:
        """Offer what the sources need."""
        self._specs = tuple(specs)
        missing = bool(unconfirmed_files(specs))
        self.confirm.setVisible(missing)
        self.bench.setVisible(not missing)

    def add_file(self, path: Path) -> None:
        """Take the functions of a file; what is wrong with it is shown."""
        try:
            specs = specs_of_file(path, [spec.name for spec in self._specs])
        except BadInputError as error:
            self._show(str(error))
            return
        self._show("")
        self.specs_added.emit(specs)

    def _choose(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Choose a file with reward functions", "", "Python (*.py)")
        if path:
            self.add_file(Path(path))

    def _confirm(self) -> None:
        self._show(ask_for(unconfirmed_files(self._specs), self) or "")
        self.confirmed.emit()

    def _show(self, sentence: str) -> None:
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))
