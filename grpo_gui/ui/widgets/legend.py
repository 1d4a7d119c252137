"""Legends in card headers: a line, dash, dot or area swatch before each name."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from grpo_gui.ui import theme

_SWATCH = 14
_GAP = 5
_BETWEEN = 12


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One name: `color` is a token or meaning, `kind` is line, dash, dots (a dotted line), dot or area; `share` mixes areas with surface."""

    text: str
    color: str
    kind: str = "line"
    share: float = 1.0


class Legend(QWidget):
    """The entries in one row, drawn at 11 px."""

    def __init__(self, entries: Sequence[LegendEntry] = ()) -> None:
        super().__init__()
        self.entries: tuple[LegendEntry, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.follow(self, self._restyle)
        self.set_entries(entries)

    def set_entries(self, entries: Sequence[LegendEntry]) -> None:
        """Show other names."""
        if tuple(entries) != self.entries:
            self.entries = tuple(entries)
            self.setAccessibleName("Legend: " + ", ".join(entry.text for entry in self.entries))
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        """Room for all swatches and names."""
        metrics = self.fontMetrics()
        widths = [_SWATCH + _GAP + metrics.horizontalAdvance(entry.text) for entry in self.entries]
        return QSize(sum(widths) + _BETWEEN * max(0, len(widths) - 1), metrics.height() + 2)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw swatches and names."""
        now = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics, middle, x = self.fontMetrics(), self.height() / 2, 0.0
        for entry in self.entries:
            _draw_swatch(painter, entry, now.mix("surface", entry.color, entry.share), x, middle)
            x += _SWATCH + _GAP
            painter.setPen(now.color("text2"))
            width = metrics.horizontalAdvance(entry.text)
            painter.drawText(QRectF(x, 0, width + 2, self.height()), Qt.AlignmentFlag.AlignVCenter, entry.text)
            x += width + _BETWEEN

    def _restyle(self) -> None:
        self.setFont(theme.font(11))
        self.update()


def _draw_swatch(painter: QPainter, entry: LegendEntry, color: QColor, x: float, middle: float) -> None:
    match entry.kind:
        case "area":
            painter.fillRect(QRectF(x + 4, middle - 4, 9, 9), color)
        case "dot":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(QPointF(x + _SWATCH / 2 + 2, middle), 2.5, 2.5)
        case _:
            line = QPen(color, 1.5)
            if entry.kind == "dash":
                line.setDashPattern([2.5, 2.0])
            elif entry.kind == "dots":
                line.setDashPattern([1.0, 1.4])
            painter.setPen(line)
            painter.drawLine(QPointF(x, middle), QPointF(x + _SWATCH, middle))
