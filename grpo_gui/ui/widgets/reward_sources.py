"""The reward sources of a run: kind, name, weight and argument, a row each."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from grpo_gui.tasks.rewards import REWARDS
from grpo_gui.training.config import RewardSpec
from grpo_gui.ui import icons, theme
from grpo_gui.ui.models.config_fields import to_text
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.labels import label

NAME_TOOLTIP = "The source's name in plots and database."
SHARES = (5, 4, 2, 4)  # of the width: kind, name, weight, argument
REMOVE_WIDTH = 24
WEIGHT_TOOLTIP = "What the source's value is multiplied with before the sources are added; 0 only records it."


class _Row(QWidget):
    """One source. `edited` after any change, `removed` by its cross."""

    edited = Signal()
    removed = Signal()

    def __init__(self, spec: RewardSpec) -> None:
        super().__init__()
        self.kind = QComboBox()
        for reward in REWARDS.values():
            self.kind.addItem(reward.label, reward.kind)
            self.kind.setItemData(self.kind.count() - 1, reward.tooltip, Qt.ItemDataRole.ToolTipRole)
        self.kind.setCurrentIndex(max(0, self.kind.findData(spec.kind)))
        self.kind.setAccessibleName("Kind of reward")
        self.kind.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.kind.view().setMinimumWidth(theme.px(300))
        self.name = _line(spec.name, "Name of the reward", NAME_TOOLTIP)
        self.weight = _line(to_text(spec.weight), "Weight of the reward", WEIGHT_TOOLTIP)
        self.argument = _line(spec.argument, "Argument of the reward", "")
        self.remove = QPushButton()
        self.remove.setProperty("look", "chip")
        self.remove.setToolTip("Remove this source.")
        self.remove.setAccessibleName(f"Remove the reward {spec.name}")
        icons.keep_icon(self.remove, self.remove.setIcon, "remove")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for widget, share in zip((self.kind, self.name, self.weight, self.argument), SHARES, strict=True):
            widget.setMinimumWidth(1)
            widget.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            row.addWidget(widget, share)
        self.remove.setFixedWidth(theme.px(REMOVE_WIDTH))
        row.addWidget(self.remove)
        self._explain()
        self.kind.activated.connect(self._kind_changed)
        for line in (self.name, self.weight, self.argument):
            line.textEdited.connect(self.edited)
        self.remove.clicked.connect(self.removed)

    def spec(self) -> RewardSpec:
        """Return the source; a weight that is no number is NaN, which validation names."""
        try:
            weight = float(self.weight.text())
        except ValueError:
            weight = float("nan")
        argument = self.argument.text() if self.argument.isEnabled() else ""
        return RewardSpec(self.name.text().strip(), str(self.kind.currentData()), weight, argument)

    def _kind_changed(self) -> None:
        kind = REWARDS[str(self.kind.currentData())]
        if self.name.text() in REWARDS:  # a name that was only the kind's
            self.name.setText(kind.kind)
        self._explain()
        self.edited.emit()

    def _explain(self) -> None:
        kind = REWARDS[str(self.kind.currentData())]
        self.kind.setToolTip(kind.tooltip)
        self.argument.setEnabled(bool(kind.argument_label))
        self.argument.setPlaceholderText(kind.argument_label)
        self.argument.setToolTip(kind.tooltip if kind.argument_label else "This kind takes no argument.")


class RewardSources(QWidget):
    """The rows with a header and a button for another one; `edited` gives the specs."""

    edited = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[_Row] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        head = QHBoxLayout()
        head.setSpacing(8)
        for text, share in zip(("kind", "name", "weight", "argument"), SHARES, strict=True):
            title = label(text, "hint")
            title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            head.addWidget(title, share)
        head.addSpacing(theme.px(REMOVE_WIDTH))
        column.addLayout(head)
        self._lines = QVBoxLayout()
        self._lines.setSpacing(4)
        column.addLayout(self._lines)
        self.add = link("Add a reward source", "add", tooltip="Another source; the weighted values are added up.")
        self.add.clicked.connect(self._add_another)
        column.addWidget(self.add)

    def set_specs(self, specs: Sequence[RewardSpec]) -> None:
        """Show other sources."""
        for row in self.rows:
            self._lines.removeWidget(row)
            row.deleteLater()
        self.rows = []
        for spec in specs:
            self._append(spec)

    def specs(self) -> tuple[RewardSpec, ...]:
        """Return the sources as the config takes them."""
        return tuple(row.spec() for row in self.rows)

    def _append(self, spec: RewardSpec) -> None:
        row = _Row(spec)
        row.edited.connect(self._emit)
        row.removed.connect(lambda: self._remove(row))
        self.rows.append(row)
        self._lines.addWidget(row)

    def _add_another(self) -> None:
        used = {row.name.text() for row in self.rows}
        kind = next((kind for kind in REWARDS if kind not in used), "exact")
        self._append(RewardSpec(kind, kind))
        self._emit()

    def _remove(self, row: _Row) -> None:
        self.rows.remove(row)
        self._lines.removeWidget(row)
        row.deleteLater()
        self._emit()

    def _emit(self) -> None:
        self.edited.emit(self.specs())


def _line(text: str, name: str, tooltip: str) -> QLineEdit:
    line = QLineEdit(text)
    line.setAccessibleName(name)
    line.setToolTip(tooltip)
    return line
