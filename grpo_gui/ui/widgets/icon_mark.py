"""An icon that says how something stands, in the colours of whatever theme is in use."""

from PySide6.QtWidgets import QLabel

from grpo_gui.ui import icons, theme


class IconMark(QLabel):
    """Shows the icon of a meaning, or nothing."""

    def __init__(self, size: int = 14) -> None:
        super().__init__()
        self._size = size
        self._name, self._color = "", ""
        theme.follow(self, self._draw)

    def show_icon(self, name: str, color: str = "text2") -> None:
        """Show an icon in a colour token; "" shows none."""
        if (name, color) != (self._name, self._color):
            self._name, self._color = name, color
            self._draw()

    def _draw(self) -> None:
        if self._name:
            self.setPixmap(icons.pixmap(self._name, self._color, self._size))
        else:
            self.clear()
