"""Labels of the window's look: roles, eliding, status pills, hairlines."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QToolTip, QWidget

from grpo_gui.ui import theme


def restyle(widget: QWidget) -> None:
    """Make the style sheet look at `widget`'s properties again."""
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
    widget.update()


def set_look(widget: QWidget, look: str) -> None:
    """Change a widget's `look` property and restyle it, only where it differs."""
    if widget.property("look") != look:
        widget.setProperty("look", look)
        restyle(widget)


def label(text: str = "", look: str = "", tooltip: str = "", *, wrap: bool = False) -> QLabel:
    """Return a label in one of the looks of `style_sheet` (hint, small, value, title, headline, ...)."""
    result = QLabel(text)
    result.setTextFormat(Qt.TextFormat.PlainText)
    if look:
        result.setProperty("look", look)
    if tooltip:
        result.setToolTip(tooltip)
    result.setWordWrap(wrap)
    return result


def mono(text: str = "", size: float = 12, look: str = "") -> QLabel:
    """Return a label in the monospace font, for prompts, tokens and settings."""
    result = label(text, look)
    theme.follow(result, lambda: result.setFont(theme.font(size, mono=True)))
    return result


class ElidedLabel(QLabel):
    """A one-line label that shortens its text with an ellipsis and then shows all of it as its tooltip."""

    def __init__(self, text: str = "", look: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._mode = mode
        if look:
            self.setProperty("look", look)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Shrink down to the ellipsis."""
        return QSize(self.fontMetrics().horizontalAdvance("\u2026") * 2, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the shortened text."""
        text = self.fontMetrics().elidedText(self.text().replace("\n", " "), self._mode, self.contentsRect().width())
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), self.alignment() | Qt.AlignmentFlag.AlignVCenter, text)

    def event(self, event: QEvent) -> bool:
        """Show the whole text as tooltip while it is shortened and no tooltip was set."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and not self.toolTip():
            cut = self.fontMetrics().horizontalAdvance(self.text()) > self.contentsRect().width()
            QToolTip.showText(event.globalPos(), self.text() if cut else "", self)
            return True
        return super().event(event)


class Pill(QLabel):
    """A status word on a tinted ground: `kind` is good, warn, bad or plain."""

    def __init__(self, text: str = "", kind: str = "plain") -> None:
        super().__init__(text)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_state(text, kind)

    def set_state(self, text: str, kind: str) -> None:
        """Show another word or another tint."""
        self.setText(text)
        set_look(self, f"pill-{kind}")


def hline() -> QFrame:
    """Return a horizontal hairline."""
    return _line("hline")


def vline() -> QFrame:
    """Return a vertical hairline."""
    return _line("vline")


def _line(look: str) -> QFrame:
    result = QFrame()
    result.setProperty("look", look)
    return result
