"""The dead-compute meter: how much of the generated tokens taught nothing, why, what it cost, and the cure."""

import math

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from grpo_gui.diagnose.dead_compute import KINDS, DeadCompute
from grpo_gui.ui import theme
from grpo_gui.ui.formatting import count, duration, percent
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.widgets.legend import LegendEntry

_BAR_HEIGHT = 16
_TIP = (
    "The share of the generated tokens whose answer had an advantage of 0 or was left out of the loss, so that it "
    "changed nothing. The time is that of sampling, judging and updating, shared out by tokens."
)
_COLORS = {
    "unrated": "text3",
    "truncated": "purple",
    "copies": "orange",
    "all_right": "green",
    "all_wrong": "vermillion",
    "equal": "sky",
}


class WasteCard(Card):
    """A bar over all tokens, and a row for each reason."""

    def __init__(self) -> None:
        super().__init__("Wasted work")
        self.header.title.setToolTip(_TIP)
        self.sentence = label("", "", _TIP, wrap=True)
        self.bar = WasteBar()
        self._table = QGridLayout()
        self._table.setHorizontalSpacing(12)
        self._table.setVerticalSpacing(4)
        self._table.setColumnStretch(3, 1)
        self._rows = [[label("", look, wrap=place == 3) for place, look in enumerate(_LOOKS)] for _ in KINDS]
        for place, row in enumerate(self._rows):
            for column, cell in enumerate(row):
                self._table.addWidget(cell, place, column)
        self.body.addWidget(self.sentence)
        self.body.addWidget(self.bar)
        self.body.addLayout(self._table)
        self.body.addStretch(1)

    def show_meter(self, meter: DeadCompute) -> None:
        """Show another state of the meter."""
        self.sentence.setText(meter.sentence)
        self.header.set_hint(f"last {count(meter.steps)} steps" if meter.steps else "")
        shares = [(waste.kind.name, waste.share) for waste in meter.reasons]
        self.bar.show_shares(shares)
        entries = [LegendEntry(waste.kind.label, _COLORS[waste.kind.name], "area") for waste in meter.reasons]
        self.header.set_legend(entries if len(entries) > 1 else ())
        for place, row in enumerate(self._rows):
            for cell in row:
                cell.setVisible(place < len(meter.reasons))
            if place < len(meter.reasons):
                waste = meter.reasons[place]
                time = "" if math.isnan(waste.seconds) else duration(waste.seconds)
                texts = (
                    waste.kind.label,
                    percent(waste.share, 0 if waste.share >= 0.0995 else 1),
                    time,
                    waste.kind.cure,
                )
                for cell, text in zip(row, texts, strict=True):
                    cell.setText(text)


_LOOKS = ("", "value", "label", "label")


class WasteBar(QWidget):
    """All generated tokens as one bar: the coloured parts taught nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._shares: list[tuple[str, float]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.follow(self, self.update)

    def sizeHint(self) -> QSize:
        """One line high."""
        return QSize(theme.px(200), theme.px(_BAR_HEIGHT))

    def show_shares(self, shares: list[tuple[str, float]]) -> None:
        """Show other shares, by the name of the reason."""
        self._shares = shares
        words = ", ".join(f"{name.replace('_', ' ')} {percent(share, 0)}" for name, share in shares)
        self.setAccessibleName(f"Tokens that taught nothing: {words or 'none'}")
        self.update()

    def paintEvent(self, _: QPaintEvent) -> None:
        """Draw the parts from the left."""
        now, painter = theme.current(), QPainter(self)
        painter.fillRect(self.rect(), now.color("sunken"))
        left = 0.0
        for name, share in self._shares:
            width = share * self.width()
            painter.fillRect(
                QRectF(left, 0, max(width - 1, 1.0), self.height()), now.mix("surface", _COLORS[name], 0.8)
            )
            left += width
