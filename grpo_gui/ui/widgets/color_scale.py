"""A strip that says what the colours of the heat map mean."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.formatting import number

_CELLS = 20
_WIDTH, _MIN_WIDTH, _HEIGHT, _STRIP = 128, 84, 26, 8


class ColorScale(QWidget):
    """Colours from the lowest to the highest value, with the values below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._limit, self._is_diverging = 1.0, True
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(theme.px(_MIN_WIDTH))
        self.setMaximumWidth(theme.px(_WIDTH))
        self.set_limit(1.0, is_diverging=True)

    def set_limit(self, limit: float, *, is_diverging: bool) -> None:
        """Show a scale from 0 to `limit`, or from -limit to limit when it diverges."""
        self._limit, self._is_diverging = limit, is_diverging
        self.setAccessibleName(f"Colour scale from {' to '.join(self._texts())}")
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for the full width; a narrow panel gives less."""
        return QSize(theme.px(_WIDTH), theme.px(_HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002  # always painted as a whole
        """Paint the strip and its two or three values."""
        painter, now = QPainter(self), theme.current()
        width = self.width() / _CELLS
        for cell in range(_CELLS):
            share = cell / (_CELLS - 1)
            painter.fillRect(
                QRectF(cell * width, 0, width + 1, theme.px(_STRIP)),
                now.diverging(2 * share - 1 if self._is_diverging else share),
            )
        painter.setFont(theme.font(11))
        painter.setPen(now.color("text2"))
        box = QRectF(0, theme.px(_STRIP), self.width(), self.height() - theme.px(_STRIP))
        texts = self._texts()
        sides = [Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight]
        for text, side in zip(texts, sides if len(texts) == 3 else sides[::2], strict=True):
            painter.drawText(box, side | Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()

    def _texts(self) -> list[str]:
        digits = 0 if self._limit >= 10 else 2 if self._limit >= 0.1 else 3
        if not self._is_diverging:
            return ["0", number(self._limit, digits)]
        return [number(-self._limit, digits), "0", number(self._limit, digits, sign=True)]
