"""The fields of the what-if card: other settings for the same samples."""

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QLineEdit, QWidget

from grpo_gui.diagnose.what_if import Settings
from grpo_gui.ui import theme
from grpo_gui.ui.widgets.choice_box import ChoiceBox
from grpo_gui.ui.widgets.labels import label

_SCALES = (("group", "by the group's spread"), ("batch", "by the step's spread"), ("none", "not scaled"))
_TIPS = {
    "group_size": "Answers for each prompt: smaller groups are drawn at random from the stored ones, 20 times a step.",
    "scale": "scale_rewards: what the advantages of a group are divided by.",
    "epsilon": "epsilon: below 1 \u2212 epsilon a bad answer's token counts as clipped.",
    "epsilon_high": "epsilon_high: above 1 + epsilon_high a good answer's token counts as clipped; empty: as epsilon.",
    "by_rank": "Replace each reward by its rank inside the group, so that only the order counts.",
    "weight": "Weight of this reward source in the sum.",
}


class WhatIfFields(QWidget):
    """`edited` after each change; `settings` reads the fields."""

    edited = Signal()
    entered = Signal()  # Enter was pressed in a field

    def __init__(self) -> None:
        super().__init__()
        self._own = Settings()
        self._weights: dict[str, QLineEdit] = {}
        self.group_size = self._field("As it was", _TIPS["group_size"])
        self.epsilon, self.epsilon_high = (
            self._field("", _TIPS["epsilon"]),
            self._field("As low", _TIPS["epsilon_high"]),
        )
        self.scale = ChoiceBox()
        for value, text in _SCALES:
            self.scale.addItem(text, value)
        self.scale.setToolTip(_TIPS["scale"])
        self.scale.currentIndexChanged.connect(self.edited)
        self.by_rank = QCheckBox("Ranks in place of rewards")
        self.by_rank.setToolTip(_TIPS["by_rank"])
        self.by_rank.toggled.connect(self.edited)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnStretch(3, 1)
        rows: tuple[tuple[str, QWidget], ...] = (
            ("Answers for each prompt", self.group_size),
            ("Advantages", self.scale),
            ("Clip low epsilon", self.epsilon),
            ("Clip high epsilon", self.epsilon_high),
        )
        for place, (name, field) in enumerate(rows):
            self._place(place, name, field)
        self._grid.addWidget(self.by_rank, 9, 0, 1, 4)

    def show_run(self, own: Settings) -> None:
        """Fill in the settings that a run had."""
        self._own = own
        self.group_size.clear()
        self.epsilon.setText(f"{own.epsilon:g}")
        self.epsilon_high.setText("" if own.epsilon_high is None else f"{own.epsilon_high:g}")
        self.scale.setCurrentIndex(max(self.scale.findData(own.scale_rewards), 0))
        self.by_rank.setChecked(False)
        for field in self._weights.values():
            self._grid.removeWidget(field)
            field.deleteLater()
        for title in self.findChildren(QLabel, "weight"):
            title.deleteLater()
        self._weights = {}
        if len(own.weights) > 1:
            for place, (name, weight) in enumerate(own.weights):
                field = self._field(f"{weight:g}", _TIPS["weight"])
                field.setText(f"{weight:g}")
                self._weights[name] = field
                self._place(4 + place, f"Weight of {name}", field, "weight")

    def settings(self) -> Settings:
        """What the fields ask for.

        Raises:
            ValueError: a field cannot be read, with a sentence.
        """
        size = self.group_size.text().strip()
        high = self.epsilon_high.text().strip()
        weights = tuple((name, _number(f"The weight of {name}", field)) for name, field in self._weights.items())
        return replace(
            self._own,
            group_size=_whole(size) if size else None,
            scale_rewards=str(self.scale.currentData()),
            epsilon=_number("Clip low epsilon", self.epsilon),
            epsilon_high=_number("Clip high epsilon", self.epsilon_high) if high else None,
            weights=weights or self._own.weights,
            by_rank=self.by_rank.isChecked(),
        )

    def _place(self, place: int, name: str, field: QWidget, kind: str = "") -> None:
        title = label(name, "label", field.toolTip())
        title.setObjectName(kind)
        field.setAccessibleName(name)
        row, column = place // 2, 2 * (place % 2)
        self._grid.addWidget(title, row, column)
        self._grid.addWidget(field, row, column + 1)

    def _field(self, placeholder: str, tooltip: str) -> QLineEdit:
        field = QLineEdit()
        field.setPlaceholderText(placeholder)
        field.setToolTip(tooltip)
        field.setMinimumWidth(theme.px(64))
        field.textEdited.connect(self.edited)
        field.returnPressed.connect(self.entered)
        return field


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"Answers for each prompt must be a whole number; it is {text}.") from None


def _number(name: str, field: QLineEdit) -> float:
    text = field.text().strip().replace(",", ".")
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{name} must be a number; it is {text or 'empty'}.") from None
    if not 0 <= value < float("inf"):
        raise ValueError(f"{name} must be 0 or more; it is {text}.")
    return value
