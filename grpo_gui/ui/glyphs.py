"""Draws Phosphor icons from the font that qtawesome ships.

Importing qtawesome itself would load eleven fonts and all of Qt through QtPy, a fifth of the time in which the
window must be on screen; only its files are used.
"""

import importlib.util
import json
from functools import cache
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QIconEngine, QPainter, QPixmap

PREFIX = "ph."
_SHARE = 0.9  # of the icon's height: the font size whose glyphs fill the square as in the design


def glyph_pixmap(name: str, color: QColor, side: int) -> QPixmap:
    """Return an icon (`ph.` and its Phosphor name) as a picture of `side` pixels."""
    picture = QPixmap(side, side)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    _draw(painter, QRect(0, 0, side, side), name, color)
    painter.end()
    return picture


class GlyphEngine(QIconEngine):
    """Draws one icon at any size; `disabled` is the colour of controls that cannot be used."""

    def __init__(self, name: str, color: QColor, disabled: QColor) -> None:
        super().__init__()
        self._name, self._color, self._disabled = name, color, disabled

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, _state: QIcon.State) -> None:
        """Draw into `rect`."""
        _draw(painter, rect, self._name, self._disabled if mode == QIcon.Mode.Disabled else self._color)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Return a transparent picture with the icon."""
        picture = QPixmap(size)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return picture

    def clone(self) -> QIconEngine:
        """Return an equal engine, for copies of the icon."""
        return GlyphEngine(self._name, self._color, self._disabled)


def _draw(painter: QPainter, rect: QRect, name: str, color: QColor) -> None:
    family, characters = _font()
    font = QFont(family)
    font.setPixelSize(max(1, round(rect.height() * _SHARE)))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(font)
    painter.setPen(color)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, characters[name.removeprefix(PREFIX)])
    painter.restore()


@cache
def _font() -> tuple[str, dict[str, str]]:
    """Return the font's family and its characters by name; needs a QApplication."""
    spec = importlib.util.find_spec("qtawesome")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("qtawesome, which ships the icons, is not installed; run: pip install qtawesome")
    folder = Path(spec.submodule_search_locations[0]) / "fonts"
    codes = json.loads(next(folder.glob("phosphor-charmap*.json")).read_text(encoding="utf-8"))
    number = QFontDatabase.addApplicationFont(str(next(folder.glob("phosphor*.ttf"))))
    family = QFontDatabase.applicationFontFamilies(number)[0]
    return family, {name: chr(int(code, 16)) for name, code in codes.items()}
