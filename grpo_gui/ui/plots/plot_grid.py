"""Where the plots stand: four rows that share the height, two columns in a narrow window, hidden ones left out."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QScrollArea, QWidget

from grpo_gui.ui import theme, tokens
from grpo_gui.ui.plots.redraw import Plot

ROWS: tuple[tuple[int, tuple[tuple[str, int], ...]], ...] = (
    (25, (("reward", 4), ("advantage", 2))),
    (16, (("clip", 2), ("kl", 2), ("entropy", 2))),
    (17, (("loss", 2), ("norm", 2), ("length", 2))),
    (12, (("time", 6),)),
)
"""Share of the height, then (plot, columns of six) from left to right."""

_COLUMNS = 6
_NARROW = 700  # below this width: two columns
_LEAST_HEIGHT = 96
_LEAST_COVER = 260
_LEAST_KEPT = 124  # of the plots above a cover that has much to say
_KEPT = ("reward", "advantage")  # that a cover leaves in sight
_COVER_SHARE = 45


class PlotGrid(QScrollArea):
    """The cards in their rows; scrolls where a plot would be lower than 96 px."""

    def __init__(self, plots: Mapping[str, Plot]) -> None:
        super().__init__()
        self._plots = dict(plots)
        self._hidden: frozenset[str] = frozenset()
        self._is_narrow = False
        self._cover: QWidget | None = None
        page = QWidget()
        page.setProperty("look", "page")
        self._grid = QGridLayout(page)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(tokens.GAP)
        for column in range(_COLUMNS):
            self._grid.setColumnStretch(column, 1)
            self._grid.setColumnMinimumWidth(column, 1)
        for plot in self._plots.values():
            plot.setMinimumHeight(theme.px(_LEAST_HEIGHT))
        self.setWidget(page)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumSize(theme.px(320), theme.px(200))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._place()

    @property
    def hidden(self) -> frozenset[str]:
        """Keys of the plots that the user hid."""
        return self._hidden

    def set_hidden(self, hidden: frozenset[str]) -> None:
        """Leave these plots out; the others of the row take their room."""
        self._hidden = hidden & self._plots.keys()
        self._place()

    def set_cover(self, cover: QWidget | None) -> None:
        """Put a widget in the place of all plots but reward and advantage; None shows the plots again."""
        if cover is self._cover:
            return
        if self._cover is not None:
            self._grid.removeWidget(self._cover)
            self._cover.hide()
        self._cover = cover
        self._place()
        self.fit_cover()
        self.verticalScrollBar().setValue(0)

    def fit_cover(self) -> None:
        """Give the cover the height that it asks for, as long as the plots above it can still be read."""
        if self._cover is not None:
            wanted = self._cover.heightForWidth(self.viewport().width())
            most = self.viewport().height() - theme.px(_LEAST_KEPT) - tokens.GAP
            self._cover.setMinimumHeight(max(theme.px(_LEAST_COVER), min(wanted, most)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Change between three and two columns."""
        super().resizeEvent(event)
        if self._is_narrow != (self.width() < theme.px(_NARROW)):
            self._is_narrow = not self._is_narrow
            self._place()
        self.fit_cover()

    def _place(self) -> None:
        rows = [row for row in self._rows() if row[1]]
        for key, plot in self._plots.items():
            self._grid.removeWidget(plot)
            plot.setVisible(key not in self._left_out())
        for number in range(self._grid.rowCount()):
            self._grid.setRowStretch(number, 0)
        for number, (share, cells) in enumerate(rows):
            self._grid.setRowStretch(number, share)
            below = rows[number + 1][1] if number + 1 < len(rows) else ()
            same_columns = [span for _, span in below] == [span for _, span in cells]
            column = 0
            for key, span in cells:
                self._grid.addWidget(self._plots[key], number, column, 1, span)
                self._plots[key].area.show_x_ticks(not same_columns)
                column += span
        if self._cover is not None:
            self._grid.addWidget(self._cover, len(rows), 0, 1, _COLUMNS)
            self._grid.setRowStretch(len(rows), _COVER_SHARE)
            self._cover.show()

    def _left_out(self) -> frozenset[str]:
        covered = frozenset() if self._cover is None else frozenset(self._plots) - frozenset(_KEPT)
        return self._hidden | covered

    def _rows(self) -> list[tuple[int, list[tuple[str, int]]]]:
        left_out = self._left_out()
        if self._is_narrow:
            shown = [(share, key) for share, cells in ROWS for key, _ in cells if key not in left_out]
            first = len(shown) % 2  # of an odd number the first one gets a row of its own
            lines = [shown[:first], *(shown[place : place + 2] for place in range(first, len(shown), 2))]
            return [(line[0][0], _filled([(key, 3) for _, key in line])) for line in lines if line]
        return [(share, _filled([cell for cell in cells if cell[0] not in left_out])) for share, cells in ROWS]


def _filled(cells: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Give the room of plots that are left out to the others of the row."""
    if sum(span for _, span in cells) == _COLUMNS:
        return list(cells)
    return [(key, _COLUMNS // len(cells)) for key, _ in cells]
