"""The reward sources of a completion with their weights, and what each adds to its reward."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from grpo_gui.ui import theme, tokens
from grpo_gui.ui.formatting import MINUS, NOTHING, number
from grpo_gui.ui.models.reward_parts import RewardPart
from grpo_gui.ui.widgets.bars import paint_advantage_bar, paint_reward_bar
from grpo_gui.ui.widgets.labels import ElidedLabel, hline, label

_HEADERS = (
    ("source", "The reward function, by the name that it has in the run's settings."),
    ("value", "rewards/{source}: what the function gave, before its weight. No opinion is not the same as 0."),
    ("weight", "The weight of the source in the run's settings."),
    ("adds", "What the source adds to the sum that becomes the advantage. – where it had no opinion."),
)
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class RewardTable(QWidget):
    """One row for each source."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(9, 0, 4, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(0, 3)
        self._grid.setColumnStretch(3, 4)

    def show_parts(self, parts: Sequence[RewardPart]) -> None:
        """Show the sources of a completion; the bars share one scale."""
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()  # it is deleted later only, and would be painted until then
                widget.deleteLater()
        self._add_header()
        full = max([1.0, *(abs(part.adds) for part in parts if part.adds is not None)])
        for row, part in enumerate(parts, start=2):
            self._add_row(row, part, full)

    def _add_header(self) -> None:
        for column, (text, tooltip) in zip((0, 1, 2, 4), _HEADERS, strict=True):
            head = label(text, "label", tooltip)
            head.setMinimumHeight(theme.px(tokens.ROW_DETAIL))
            self._grid.addWidget(head, 0, column, Qt.AlignmentFlag.AlignVCenter if column == 0 else _RIGHT)
        self._grid.addWidget(hline(), 1, 0, 1, 5)

    def _add_row(self, row: int, part: RewardPart, full: float) -> None:
        name = ElidedLabel(part.source)
        name.setMinimumHeight(theme.px(tokens.ROW_DETAIL))
        value = _value_label(part.value)
        weight = label(_short(part.weight))
        adds = label(NOTHING if part.adds is None else number(part.adds))
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(value, row, 1, _RIGHT)
        self._grid.addWidget(weight, row, 2, _RIGHT)
        if part.adds is not None:
            self._grid.addWidget(_PartBar(part.adds, full), row, 3)
        self._grid.addWidget(adds, row, 4, _RIGHT)


class _PartBar(QWidget):
    """What a source adds: from the left when nothing can be negative, else from a middle axis."""

    def __init__(self, adds: float, full: float) -> None:
        super().__init__()
        self._adds, self._full = adds, full
        self.setAccessibleName(f"adds {number(adds)}")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Ask for the height of a row."""
        return QSize(theme.px(80), theme.px(tokens.ROW_DETAIL))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002  # always painted as a whole
        """Paint the bar."""
        painter = QPainter(self)
        rect = QRect(0, 0, self.width(), self.height())
        if self._adds < 0:
            paint_advantage_bar(painter, rect, self._adds, self._full)
        else:
            paint_reward_bar(painter, rect, self._adds, 0.0, self._full)
        painter.end()


def _value_label(value: float | None) -> QLabel:
    if value is None or math.isnan(value):
        return label("no opinion", "label", "The source gave no value (None): it neither raises nor lowers the reward.")
    return label(_short(value))


def _short(value: float) -> str:
    """Write a setting or a raw value as a person would: without zeros at the end."""
    return number(value) if math.isinf(value) else f"{value:.4g}".replace("-", MINUS)
