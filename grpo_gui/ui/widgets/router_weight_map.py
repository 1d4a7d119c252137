"""The map of what the router learned: a row per class, a column per model, each cell weight, quality and count."""

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from grpo_gui.router.explanation import WeightMap
from grpo_gui.ui import theme
from grpo_gui.ui.formatting import count, number
from grpo_gui.ui.models.completions_model import plain_tooltip
from grpo_gui.ui.models.router_words import cell as cell_words
from grpo_gui.ui.models.visible_text import one_line

_NAMES = 84
_HEADER = 24
_CELL_WIDTH = 78
_CELL_HEIGHT = 36
_THREE_LINES = 46  # height from which the count has a line of its own
_HIGHEST_CELL = 60
_WIDEST_CELL = 190
_MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}
NOTHING = WeightMap((), (), (), (), (), ())


class WeightMapWidget(QWidget):
    """Lies in a scroll area; `cell_chosen` gives class and model of the cell under the cursor."""

    cell_chosen = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.weights = NOTHING
        self._chosen: tuple[str, str] | None = None
        self.setProperty("look", "page")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Weights by class and model")
        theme.follow(self, self.update)

    def show_weights(self, weights: WeightMap) -> None:
        """Show another map; the chosen cell stays where class and model are still there."""
        self.weights = weights
        self.setMinimumSize(
            theme.px(_NAMES + _CELL_WIDTH * len(weights.models)),
            theme.px(_HEADER + _CELL_HEIGHT * len(weights.classes)),
        )
        if self._place() is None:
            self._chosen = None
        self._describe()
        self.update()

    @property
    def limit(self) -> float:
        """The largest weight of a cell with ratings: the ends of the colour scale."""
        known = [
            abs(weight)
            for weights, ratings in zip(self.weights.weights, self.weights.ratings, strict=True)
            for weight, rated in zip(weights, ratings, strict=True)
            if rated
        ]
        return max([0.1, *known])

    @property
    def chosen(self) -> tuple[str, str] | None:
        """Class and model of the chosen cell."""
        return self._chosen

    def words(self) -> str:
        """The chosen cell explained; empty without one."""
        place = self._place()
        return "" if place is None else cell_words(self.weights, *place)

    def choose(self, row: int, column: int) -> None:
        """Choose a cell, as a click would."""
        self._chosen = (self.weights.classes[row], self.weights.models[column])
        self._describe()
        self.update()
        self.cell_chosen.emit(*self._chosen)

    def cell_rect(self, row: int, column: int) -> QRect:
        """Where a cell lies."""
        names, header = theme.px(_NAMES), theme.px(_HEADER)
        width, height = self._cell_size()
        left, top = round(names + column * width), round(header + row * height)
        right, bottom = round(names + (column + 1) * width), round(header + (row + 1) * height)
        return QRect(left, top, right - left - 1, bottom - top - 1)

    def sizeHint(self) -> QSize:
        """All cells at their least size."""
        return self.minimumSize()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the cells in view; the names of models and classes stay at the edges of what is seen."""
        painter, seen = QPainter(self), self.visibleRegion().boundingRect()
        rows, columns = self._cells_in(event.rect())
        for row in rows:
            for column in columns:
                self._paint_cell(painter, row, column)
        names, header = theme.px(_NAMES), theme.px(_HEADER)
        painter.fillRect(QRect(seen.x(), seen.y(), names - 1, seen.height()), theme.current().color("surface"))
        for row in rows:
            place = self.cell_rect(row, 0)
            box = QRect(seen.x(), place.y(), names - 8, place.height())
            self._paint_name(painter, box, self.weights.classes[row], Qt.AlignmentFlag.AlignLeft)
        painter.fillRect(QRect(seen.x(), seen.y(), seen.width(), header - 1), theme.current().color("surface"))
        painter.setClipRect(QRect(seen.x() + names, seen.y(), seen.width(), header))
        for column in columns:
            place = self.cell_rect(0, column)
            box = QRect(place.x() + 2, seen.y(), place.width() - 4, header)
            self._paint_name(painter, box, self.weights.models[column], Qt.AlignmentFlag.AlignHCenter)

    def _cells_in(self, area: QRect) -> tuple[range, range]:
        """The rows and columns that touch an area."""
        width, height = self._cell_size()
        left, top = area.x() - theme.px(_NAMES), area.y() - theme.px(_HEADER)
        rows = range(max(int(top / height), 0), min(int((top + area.height()) / height) + 1, len(self.weights.classes)))
        columns = range(
            max(int(left / width), 0), min(int((left + area.width()) / width) + 1, len(self.weights.models))
        )
        return rows, columns

    def _cell_size(self) -> tuple[float, float]:
        width = (self.width() - theme.px(_NAMES)) / max(len(self.weights.models), 1)
        height = (self.height() - theme.px(_HEADER)) / max(len(self.weights.classes), 1)
        return max(min(width, theme.px(_WIDEST_CELL)), 1.0), max(min(height, theme.px(_HIGHEST_CELL)), 1.0)

    def _paint_name(self, painter: QPainter, box: QRect, name: str, side: Qt.AlignmentFlag) -> None:
        painter.setFont(theme.font(12))
        painter.setPen(theme.current().color("text2"))
        text = painter.fontMetrics().elidedText(one_line(name), Qt.TextElideMode.ElideMiddle, box.width())
        painter.drawText(box, side | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_cell(self, painter: QPainter, row: int, column: int) -> None:
        now, box = theme.current(), self.cell_rect(row, column)
        ratings, weight = self.weights.ratings[row][column], self.weights.weights[row][column]
        painter.fillRect(box, now.diverging(weight / self.limit) if ratings else now.color("sunken"))
        quality = number(self.weights.qualities[row][column])
        if ratings:
            margin = number(self.weights.margins[row][column])
            lines = [number(weight, sign=True), f"{quality} ± {margin}", f"n {count(ratings)}"]
        else:
            lines = ["no data", f"prior {quality}"]
        if box.height() < theme.px(_THREE_LINES) and ratings:
            lines = [f"{lines[0]}  {lines[2]}", lines[1]]
        height = min(box.height() // len(lines), theme.px(17))
        top = box.center().y() - height * len(lines) // 2
        for index, line in enumerate(lines):
            painter.setFont(theme.font(12, 600) if index == 0 else theme.font(11))
            painter.setPen(now.color("text" if ratings else "text2" if index == 0 else "text3"))
            painter.drawText(
                QRect(box.x(), top + index * height, box.width(), height), Qt.AlignmentFlag.AlignCenter, line
            )
        if self._place() == (row, column):
            painter.setPen(QPen(now.color("accent"), 2))
            painter.drawRect(box.adjusted(1, 1, -1, -1))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click chooses the cell under it."""
        place = self._cell_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and place is not None:
            self.choose(*place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrow keys move the chosen cell."""
        move = _MOVES.get(Qt.Key(event.key()))
        if move is None or not self.weights.classes or not self.weights.models:
            super().keyPressEvent(event)
            return
        row, column = self._place() or (0, 0)
        if self._place() is not None:
            row = min(max(row + move[0], 0), len(self.weights.classes) - 1)
            column = min(max(column + move[1], 0), len(self.weights.models) - 1)
        self.choose(row, column)

    def event(self, event: QEvent) -> bool:
        """Explain the cell under the mouse as tooltip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            place = self._cell_at(event.pos())
            words = "" if place is None else plain_tooltip(cell_words(self.weights, *place))
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)

    def _cell_at(self, point: QPoint) -> tuple[int, int] | None:
        rows, columns = self._cells_in(QRect(point, QSize(1, 1)))
        seen = self.visibleRegion().boundingRect()
        if point.x() < seen.x() + theme.px(_NAMES) or point.y() < seen.y() + theme.px(_HEADER):
            return None
        found = [(row, column) for row in rows for column in columns if self.cell_rect(row, column).contains(point)]
        return found[0] if found else None

    def _place(self) -> tuple[int, int] | None:
        if self._chosen is None:
            return None
        name, model = self._chosen
        if name not in self.weights.classes or model not in self.weights.models:
            return None
        return self.weights.classes.index(name), self.weights.models.index(model)

    def _describe(self) -> None:
        cells = len(self.weights.classes) * len(self.weights.models)
        self.setAccessibleDescription(self.words() or f"{cells} cells; the arrow keys choose one")
