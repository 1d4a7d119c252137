"""Legends in card headers: a line, dash, dot or area swatch before each name."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from grpo_gui.ui import theme

_SWATCH = 14
_GAP = 5
_BETWEEN = 12


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One name: `color` is a token or meaning, `share` mixes areas with surface.

    `kind` is line, dash, dots (a dotted line), dot or area.
    """

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
        return QSize(self.width_of(self.entries), self.fontMetrics().height() + 2)

    def width_of(self, entries: Sequence[LegendEntry]) -> int:
        """Pixels that entries need."""
        metrics = self.fontMetrics()
        widths = [_SWATCH + _GAP + metrics.horizontalAdvance(entry.text) for entry in entries]
        return sum(widths) + _BETWEEN * max(0, len(widths) - 1)

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


class ValueRows(QWidget):
    """Entries in as many rows as they need; hidden without any."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Legend] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 2)
        self._column.setSpacing(1)
        self.hide()

    def show_entries(self, entries: Sequence[LegendEntry]) -> None:
        """Show these entries, each row as wide as there is room."""
        if not entries and self.isHidden():
            return
        rows: list[list[LegendEntry]] = []
        measure = self.rows[0] if self.rows else Legend()
        room = max((self.parentWidget() or self).width() - 2 * _BETWEEN, 1)
        for entry in entries:
            if not rows or measure.width_of([*rows[-1], entry]) > room:
                rows.append([])
            rows[-1].append(entry)
        while len(self.rows) < len(rows):
            self.rows.append(Legend())
            self._column.addWidget(self.rows[-1])
        for place, legend in enumerate(self.rows):
            legend.setVisible(place < len(rows))
            legend.set_entries(rows[place] if place < len(rows) else ())
        self.setVisible(bool(rows))


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
