"""The test bench: what the rewards give for a typed text and for the usual tricks."""

from collections.abc import Callable, Sequence
from typing import Protocol

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QFormLayout,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
)

from grpo_gui.tasks.bench import BenchReward, BenchRow, fuzz_texts, run_bench
from grpo_gui.tasks.problem import Problem
from grpo_gui.training.config import RewardSpec
from grpo_gui.ui import theme
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.labels import label

WIDTH, HEIGHT = 720, 560
SHOWN_TEXT = 60
OTHER_ANSWERS = [str(number) for number in range(20)]


Runnable = Callable[[], list[BenchRow]]


class Runner(Protocol):
    """Runs a function beside the GUI thread and calls back on it."""

    def __call__(
        self,
        function: Runnable,
        done: Callable[[list[BenchRow]], None],
        failed: Callable[[TaskFailure], None],
    ) -> None:
        """Run `function`."""


class RewardBench(QDialog):
    """Scores with the rewards of a config; each runs as it does in a run, in its own process with a time limit."""

    def __init__(self, specs: Sequence[RewardSpec], run: Runner) -> None:
        super().__init__()
        self._specs, self._run = tuple(specs), run
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Try the rewards")
        self.resize(theme.px(WIDTH), theme.px(HEIGHT))
        self.prompt, self.answer, self.text = QLineEdit("What is 2 + 2?"), QLineEdit("4"), QLineEdit("4")
        form = QFormLayout()
        for name, field in (("Prompt", self.prompt), ("Answer", self.answer), ("Completion", self.text)):
            field.setAccessibleName(name)
            form.addRow(name, field)
            field.returnPressed.connect(self.start)
        self.chat = QCheckBox("Hand over chat messages")
        self.chat.setToolTip("As in a run whose data hold chats: prompts and completions are lists of messages.")
        form.addRow("", self.chat)
        self.go = button("Score", "start", tooltip="Score the completion and the tricks.")
        self.go.clicked.connect(self.start)
        self.table = QTableWidget(0, 1 + len(self._specs))
        self.table.setHorizontalHeaderLabels(["completion", *(spec.name for spec in self._specs)])
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.verticalHeader().hide()
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setAccessibleName("Rewards of the completions")
        self.table.currentCellChanged.connect(self._show_details)
        self.sentence = label("", "label", wrap=True)
        self.details = QPlainTextEdit()
        self.details.setReadOnly(True)
        self.details.setAccessibleName("Details of a failure")
        self.details.hide()
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addWidget(self.go)
        column.addWidget(self.table, 2)
        column.addWidget(self.sentence)
        column.addWidget(self.details, 1)

    def start(self) -> None:
        """Score, unless scoring is under way."""
        if not self.go.isEnabled():
            return
        self.go.setEnabled(False)
        self.sentence.setText("Scoring\u2026")
        prompt = self.prompt.text()
        messages = (("user", prompt),) if self.chat.isChecked() else ()
        problem = Problem("file", prompt, self.answer.text() or None, {}, messages)
        texts = [("typed", self.text.text()), *fuzz_texts(problem, OTHER_ANSWERS)]
        rewards = [BenchReward(spec.name, spec.kind, spec.argument) for spec in self._specs]
        self._run(lambda: run_bench(rewards, problem, texts), self.show_rows, self._show_failure)

    def show_rows(self, rows: list[BenchRow]) -> None:
        """Fill the table; the highest value among the tricks is named."""
        self.go.setEnabled(True)
        self.table.setRowCount(len(rows))
        for position, row in enumerate(rows):
            shown = row.completion if len(row.completion) <= SHOWN_TEXT else row.completion[:SHOWN_TEXT] + "\u2026"
            first = QTableWidgetItem(f"{row.label}: {shown}")
            first.setToolTip(f"{len(row.completion)} characters")
            self.table.setItem(position, 0, first)
            for index, (value, details) in enumerate(zip(row.values, row.details, strict=True)):
                cell = QTableWidgetItem(_text(value))
                cell.setData(Qt.ItemDataRole.UserRole, f"{value}\n\n{details}" if isinstance(value, str) else "")
                self.table.setItem(position, 1 + index, cell)
        self.sentence.setText(_verdict(self._specs, rows))

    def _show_failure(self, failure: TaskFailure) -> None:
        self.go.setEnabled(True)
        self.sentence.setText(failure.message)

    def _show_details(self, row: int, column: int) -> None:
        item = self.table.item(row, column)
        text = str(item.data(Qt.ItemDataRole.UserRole) or "") if item is not None else ""
        self.details.setPlainText(text)
        self.details.setVisible(bool(text))


def _text(value: float | str | None) -> str:
    match value:
        case None:
            return "no opinion"
        case str():
            return "failed: click for the traceback"
        case _:
            return f"{value:g}"


def _verdict(specs: Sequence[RewardSpec], rows: Sequence[BenchRow]) -> str:
    """Name a trick that earns more than the typed text in all, or say that none does."""
    totals = []
    for row in rows:
        if any(isinstance(value, str) for value in row.values):
            return f"A reward failed for '{row.label}'; click the cell."
        pairs = zip(specs, row.values, strict=True)
        totals.append(sum(spec.weight * value for spec, value in pairs if isinstance(value, int | float)))
    best = max(range(len(rows)), key=lambda position: totals[position])
    if totals[best] > totals[0]:
        more = f"'{rows[best].label}' earns {totals[best]:g}, more than the typed text's {totals[0]:g}"
        return f"{more}: it will be learned."
    return f"No trick earns more than the typed text's {totals[0]:g}."
