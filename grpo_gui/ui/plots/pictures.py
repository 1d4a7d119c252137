"""Pictures of widgets as they are on screen: PNG with twice the pixels, or SVG."""

from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from grpo_gui.errors import BadInputError
from grpo_gui.ui import theme

_SCALE = 2


def save_picture(widget: QWidget, target: Path) -> None:
    """Write `widget` as PNG or SVG, by the ending of the file.

    Raises:
        BadInputError: the file cannot be written.
    """
    written = _save_svg(widget, target) if target.suffix.lower() == ".svg" else _save_png(widget, target)
    if not written:
        raise BadInputError(f"{target} cannot be written; choose a folder with room and write access.")


def _save_png(widget: QWidget, target: Path) -> bool:
    picture = QPixmap(widget.size() * _SCALE)
    picture.setDevicePixelRatio(_SCALE)
    picture.fill(theme.current().color("win"))
    painter = QPainter(picture)
    widget.render(painter, QPoint(0, 0))
    painter.end()
    return picture.save(str(target), "PNG")


def _save_svg(widget: QWidget, target: Path) -> bool:
    from PySide6.QtSvg import QSvgGenerator  # only here: the window does not need it otherwise

    try:
        target.touch()  # the generator does not say that it cannot write
    except OSError:
        return False
    size = QSize(widget.size())
    generator = QSvgGenerator()
    generator.setFileName(str(target))
    generator.setSize(size)
    generator.setViewBox(QRect(QPoint(0, 0), size))
    generator.setTitle(widget.accessibleName() or "grpo-gui")
    painter = QPainter(generator)
    painter.fillRect(QRect(QPoint(0, 0), size), theme.current().color("win"))
    widget.render(painter, QPoint(0, 0))
    painter.end()
    return target.stat().st_size > 0
