"""Cells of a table: text in the colour that the model names, and cells that are drawn by hand."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from grpo_gui.ui import theme

Index = QModelIndex | QPersistentModelIndex


class CellDelegate(QStyledItemDelegate):
    """Plain cells in the colour token that the model gives for `look_role`; the column `bold` in bold."""

    def __init__(self, parent: QWidget, look_role: int, bold: int | None = None) -> None:
        super().__init__(parent)
        self._look_role, self._bold = look_role, bold

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Take colour and weight."""
        super().initStyleOption(option, index)
        color = theme.current().color(index.data(self._look_role) or "text")
        option.palette.setColor(option.palette.ColorRole.Text, color)
        option.palette.setColor(option.palette.ColorRole.HighlightedText, color)
        if index.column() == self._bold:
            option.font = theme.font(12, 600)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw without the dotted focus frame: the row's ground already tells."""
        option.state &= ~QStyle.StateFlag.State_HasFocus
        super().paint(painter, option, index)


class PaintedDelegate(QStyledItemDelegate):
    """A cell that is drawn by hand on the row's ground."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw ground and content; an exception here would cost the whole window's picture."""
        painter.save()
        try:
            if option.state & QStyle.StateFlag.State_Selected:
                painter.fillRect(option.rect, theme.current().color("soft"))
            self.paint_content(painter, option.rect, index)
        finally:
            painter.restore()

    def paint_content(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """Draw the content; subclasses fill it."""
        raise NotImplementedError
