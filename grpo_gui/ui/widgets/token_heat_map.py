"""The tokens of a completion as coloured cells: log-ratio, KL or entropy, with clipped tokens outlined."""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.models.completions_model import plain_tooltip
from grpo_gui.ui.models.token_flow import Flow, flow
from grpo_gui.ui.models.token_values import TokenMeasure, TokenValues
from grpo_gui.ui.models.token_words import map_sentence, token_sentence
from grpo_gui.ui.models.visible_text import token_text

_LINE_HEIGHT = 30
_CELL_HEIGHT = 26
_PADDING = 3  # left and right of a token's text
_MARGIN = 2  # room for the ring around a token at the edge


class TokenHeatMap(QWidget):
    """Cells that can be chosen by mouse and arrow keys. Its height follows from its width."""

    token_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values: TokenValues | None = None
        self._measure = TokenMeasure.LOG_RATIO
        self._chosen = 0
        self._texts: list[str] = []
        self._flow = Flow()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme.follow(self, self._relayout)

    @property
    def chosen(self) -> int:
        """The chosen token, counted from 0."""
        return self._chosen

    def show_values(self, values: TokenValues, measure: TokenMeasure, chosen: int) -> None:
        """Show a completion's tokens."""
        is_new = values is not self._values
        self._values, self._measure, self._chosen = values, measure, chosen
        if is_new:
            self._texts = [token_text(text) for text in values.texts]
            self._relayout()
        self._describe()
        self.update()

    def choose(self, token: int) -> None:
        """Choose a token and tell; a place outside is moved to the nearest end."""
        if self._values is None or not self._texts:
            return
        token = min(max(token, 0), len(self._texts) - 1)
        if token != self._chosen:
            self._chosen = token
            self._describe()
            self.update()
            self.token_chosen.emit(token)

    def cell_rect(self, token: int) -> QRectF:
        """Give the place of a token's cell in widget coordinates."""
        cell = self._flow.cells[token]
        return QRectF(
            _MARGIN + cell.x, _MARGIN + cell.line * theme.px(_LINE_HEIGHT), cell.width, theme.px(_CELL_HEIGHT)
        )

    def heightForWidth(self, width: int) -> int:
        """Give the height that the lines need at a width."""
        return self._height(self._flow_at(width))

    def sizeHint(self) -> QSize:
        """Ask for the height at the present width."""
        return QSize(theme.px(240), self._height(self._flow))

    def minimumSizeHint(self) -> QSize:
        """Ask for one line at least."""
        return QSize(theme.px(80), theme.px(_LINE_HEIGHT))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fill the lines anew."""
        super().resizeEvent(event)
        self._flow = self._flow_at(self.width())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the lines that are in view."""
        if self._values is None or not self._texts:
            return
        painter = QPainter(self)
        painter.setFont(theme.font(14, mono=True))
        shares = self._values.shares(self._measure)
        height = theme.px(_LINE_HEIGHT)
        first = max(0, int(event.rect().top() // height) - 1)
        last = min(self._flow.lines - 1, int(event.rect().bottom() // height) + 1)
        for line in range(first, last + 1):
            for token in self._flow.tokens_of(line):
                self._paint_cell(painter, token, float(shares[token]))
        self._paint_ring(painter)
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrow keys move the choice; Home and End go to the ends of the completion."""
        if not self._texts:
            super().keyPressEvent(event)
            return
        match event.key():
            case Qt.Key.Key_Left:
                self.choose(self._chosen - 1)
            case Qt.Key.Key_Right:
                self.choose(self._chosen + 1)
            case Qt.Key.Key_Up:
                self.choose(self._flow.beside(self._chosen, -1))
            case Qt.Key.Key_Down:
                self.choose(self._flow.beside(self._chosen, 1))
            case Qt.Key.Key_Home:
                self.choose(0)
            case Qt.Key.Key_End:
                self.choose(len(self._texts) - 1)
            case _:
                super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click chooses the token under it."""
        token = self._token_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and token is not None:
            self.choose(token)

    def event(self, event: QEvent) -> bool:
        """Show a token's numbers as its tooltip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._values is not None:
            token = self._token_at(QPointF(event.pos()))
            text = "" if token is None else plain_tooltip(token_sentence(self._values, token))
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def _token_at(self, point: QPointF) -> int | None:
        return self._flow.at(point.x() - _MARGIN, int((point.y() - _MARGIN) // theme.px(_LINE_HEIGHT)))

    def _relayout(self) -> None:
        self._flow = self._flow_at(self.width())
        self.updateGeometry()
        self.update()

    def _flow_at(self, width: int) -> Flow:
        if self._values is None:
            return Flow()
        metrics = QFontMetricsF(theme.font(14, mono=True))
        padding = 2 * theme.px(_PADDING)
        widths = {text: metrics.horizontalAdvance(text) + padding for text in set(self._texts)}
        breaks = ["\n" in text for text in self._values.texts]
        return flow([widths[text] for text in self._texts], breaks, max(1, width - 2 * _MARGIN))

    def _height(self, cells: Flow) -> int:
        return (
            2 * _MARGIN
            + max(1, cells.lines) * theme.px(_LINE_HEIGHT)
            - (theme.px(_LINE_HEIGHT) - theme.px(_CELL_HEIGHT))
        )

    def _paint_cell(self, painter: QPainter, token: int, share: float) -> None:
        now, rect = theme.current(), self.cell_rect(token)
        painter.fillRect(rect, now.diverging(share))
        painter.setPen(now.color("text"))
        inner = rect.adjusted(theme.px(_PADDING), 0, -theme.px(_PADDING) + 1, 0)
        text = self._texts[token]
        if rect.width() >= self.width() - 2 * _MARGIN:
            text = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine), text)
        clipped = int(self._values.clipped[token]) if self._values is not None else 0
        if clipped:
            self._paint_outline(painter, rect, clipped)

    def _paint_outline(self, painter: QPainter, rect: QRectF, clipped: int) -> None:
        """Outline a clipped token, with a triangle in its corner: down for low, up for high."""
        ink = theme.current().color("text")
        painter.setPen(QPen(ink, 1))
        painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5))
        size, right = theme.px(6), rect.right() - 2
        tip = rect.bottom() - 2 if clipped < 0 else rect.top() + 2
        base = tip + 0.8 * size * (-1 if clipped < 0 else 1)
        triangle = [QPointF(right - size, base), QPointF(right, base), QPointF(right - size / 2, tip)]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        painter.drawPolygon(QPolygonF(triangle))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_ring(self, painter: QPainter) -> None:
        if self._chosen >= len(self._flow.cells):
            return
        pen = QPen(theme.current().color("accent"), 2)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.drawRect(self.cell_rect(self._chosen))

    def _describe(self) -> None:
        if self._values is None:
            return
        self.setAccessibleName(f"Tokens: {map_sentence(self._values, self._measure)}")
        self.setAccessibleDescription(token_sentence(self._values, self._chosen) if self._texts else "no tokens")
