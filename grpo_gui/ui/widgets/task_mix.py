"""The weights of a mix of tasks."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from grpo_gui.tasks.generated import KINDS
from grpo_gui.ui import theme
from grpo_gui.ui.widgets.labels import label

TOOLTIP = "How often the task is drawn, relative to the others; empty or 0 leaves it out."


class TaskMix(QWidget):
    """One weight per built-in task; `edited` gives (task, weight) pairs, NaN where no number was typed."""

    edited = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        self.inputs: dict[str, QLineEdit] = {}
        for name, kind in KINDS.items():
            line = QLineEdit()
            line.setFixedWidth(theme.px(44))
            line.setToolTip(TOOLTIP)
            line.setAccessibleName(f"Weight of {kind.label}")
            line.textEdited.connect(self._emit)
            self.inputs[name] = line
            row.addWidget(label(name, "label", TOOLTIP))
            row.addWidget(line)
            row.addSpacing(10)
        row.addStretch(1)

    def set_weights(self, mix: Sequence[tuple[str, float]]) -> None:
        """Show a mix; an empty one means all tasks equally."""
        weights = dict(mix) or dict.fromkeys(KINDS, 1.0)
        for name, line in self.inputs.items():
            line.setText(f"{weights[name]:g}" if name in weights else "")

    def weights(self) -> tuple[tuple[str, float], ...]:
        """Return the mix as the config takes it."""
        typed = {name: line.text().strip() for name, line in self.inputs.items()}
        return tuple((name, _weight(text)) for name, text in typed.items() if text not in ("", "0"))

    def _emit(self) -> None:
        self.edited.emit(self.weights())


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
