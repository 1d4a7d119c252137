"""What the Snapshots view asks before it acts: where to export, until which step to resume, how many to keep."""

from pathlib import Path

from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit, QSpinBox, QWidget

from grpo_gui.snapshots.keeping import KeepRule, most_kept, to_remove
from grpo_gui.ui.models.snapshot_reading import Shelf, kept_of
from grpo_gui.ui.models.snapshot_row import SnapshotRow
from grpo_gui.ui.models.snapshot_table_model import size_text
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.question_dialog import QuestionDialog

DTYPES = (("fp32", "fp32, as trained"), ("bf16", "bf16, half the size"), ("fp16", "fp16, half the size"))
MOST_STEPS = 10_000_000


class ExportDialog(QuestionDialog):
    """Asks for a new folder and a precision."""

    def __init__(self, parent: QWidget, row: SnapshotRow, name: str) -> None:
        super().__init__(parent, f"Export {row.title}", "Export")
        self.path = QLineEdit(str(Path.home() / f"{_file_name(name)}-step-{row.step}"))
        self.path.setAccessibleName("Folder")
        self.dtype = QComboBox()
        for value, text in DTYPES:
            self.dtype.addItem(text, value)
        browse = button("Browse\u2026", "folder", tooltip="Choose the folder in which the export is made.")
        browse.clicked.connect(self._browse)
        self.add_row("New folder", self.path, browse)
        self.add_row("Precision", self.dtype)
        self.sentence.setText(
            "The folder will hold model.safetensors, config.json and the tokenizer, without the training state. "
            "AutoModelForCausalLM and AutoTokenizer of transformers load it."
        )
        self.path.textChanged.connect(self._check)
        self._check()

    @property
    def target(self) -> Path:
        """The folder to make."""
        return Path(self.path.text()).expanduser()

    def _browse(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Where to make the export", str(self.target.parent))
        if folder:
            self.path.setText(str(Path(folder) / self.target.name))

    def _check(self) -> None:
        taken = self.target.exists() and (not self.target.is_dir() or any(self.target.iterdir()))
        self.act.setEnabled(bool(self.path.text().strip()) and not taken)
        self.act.setToolTip("This folder is in use and is not overwritten; choose another name." if taken else "")


class ResumeDialog(QuestionDialog):
    """Asks until which step the run shall go on from a snapshot, and says what that puts aside."""

    def __init__(self, parent: QWidget, row: SnapshotRow, steps_done: int, steps: int) -> None:
        super().__init__(parent, f"Resume from {row.title}", "Resume")
        self.steps = QSpinBox()
        self.steps.setRange(row.step + 1, MOST_STEPS)
        self.steps.setValue(steps if steps > row.step else row.step + max(row.step, 10))
        self.steps.setAccessibleName("Last step")
        self.add_row("Train until step", self.steps)
        self._row, self._done, self._planned = row, steps_done, steps
        self.steps.valueChanged.connect(self._explain)
        self._explain()

    def _explain(self) -> None:
        parts = []
        if self._done > self._row.step:
            parts.append(
                f"Steps {self._row.step + 1} to {self._done} are kept, marked superseded, and hidden. "
                "To keep them as they are, make a branch instead."
            )
        if self.steps.value() == self._planned:
            parts.append("The numbers are those of a run that was never cut off.")
        else:
            parts.append(f"The learning rate follows the schedule of {self.steps.value()} steps from here on.")
        self.sentence.setText(" ".join(parts))


class KeepDialog(QuestionDialog):
    """Asks how many of the newest snapshots stay, and tells the disk that this takes."""

    def __init__(self, parent: QWidget, shelf: Shelf) -> None:
        super().__init__(parent, "Which snapshots to keep", "Keep")
        self._shelf = shelf
        self.last = QSpinBox()
        self.last.setRange(0, 100_000)
        self.last.setSpecialValueText("all")
        self.last.setValue(shelf.rule.last)
        self.last.setAccessibleName("Newest snapshots to keep")
        self.add_row("Keep the last", self.last)
        self.last.valueChanged.connect(self._explain)
        self._explain()

    @property
    def rule(self) -> KeepRule:
        """The rule that was chosen."""
        return KeepRule(self.last.value())

    def going(self) -> list[SnapshotRow]:
        """The snapshots that go at once under the rule."""
        rows = (*self._shelf.rows, *self._shelf.hidden)
        gone = {kept.path for kept in to_remove(kept_of(rows), self.rule)}
        return [row for row in rows if row.path in gone]

    def _explain(self) -> None:
        rows = [row for row in self._shelf.rows if not row.is_base]
        largest = max((row.size_bytes for row in rows), default=0)
        most = most_kept(self.rule, sum(row.pinned for row in rows))
        text = "The best by held-out reward and the pinned ones always stay. "
        if not most:
            text += "Without a limit every snapshot stays until you delete it."
        elif largest:
            text += f"That is at most {most} of {size_text(largest)}: {size_text(most * largest)} of disk."
        going = self.going()
        if going:
            steps = ", ".join(str(row.step) for row in reversed(going))
            text += f" Now to the trash: step {steps} ({size_text(sum(row.size_bytes for row in going))})."
        self.sentence.setText(text)


def _file_name(name: str) -> str:
    kept = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)
    return "-".join(part for part in kept.split("-") if part) or "model"
