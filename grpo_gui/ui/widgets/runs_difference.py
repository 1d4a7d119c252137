"""The settings in which the overlaid runs differ, as a table; the equal ones on demand."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QVBoxLayout, QWidget

from grpo_gui.ui import theme, tokens
from grpo_gui.ui.models.runs_difference import Setting
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.card import CardHeader
from grpo_gui.ui.widgets.labels import label

_MOST_ROWS = 9
_NAME_WIDTH = 150
_VALUE_WIDTH = 92


class RunsDifference(QWidget):
    """Names of settings as they stand in the config, a column for each run."""

    def __init__(self) -> None:
        super().__init__()
        self._settings: list[Setting] = []
        self._titles: list[str] = []
        self._shows_equal = False
        self.header = CardHeader("Settings")
        self.toggle = link("Show equal", tooltip="Show also the settings in which the runs agree.")
        self.toggle.clicked.connect(self._toggle)
        self.header.add_widget(self.toggle)
        self.sentence = label("", "label", wrap=True)
        self.table = QTableWidget()
        self.table.setAccessibleName("Settings of the overlaid runs")
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.table.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # the end of a dotted name says most
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.table.horizontalHeader().setSectionsClickable(False)
        self.table.horizontalHeader().setMinimumSectionSize(40)
        self.table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for widget in (self.header, self.sentence, self.table):
            column.addWidget(widget)
        theme.follow(self, self._fill)

    def show_settings(self, titles: Sequence[str], settings: Sequence[Setting]) -> None:
        """Show the settings of these runs."""
        if (list(titles), list(settings)) != (self._titles, self._settings):
            self._titles, self._settings = list(titles), list(settings)
            self._fill()

    @property
    def rows(self) -> list[Setting]:
        """The settings in the table."""
        return [row for row in self._settings if row.differs or self._shows_equal]

    def _toggle(self) -> None:
        self._shows_equal = not self._shows_equal
        self._fill()

    def _fill(self) -> None:
        differing = sum(row.differs for row in self._settings)
        equal = len(self._settings) - differing
        several = len(self._titles) > 1
        self.header.set_hint(f"{differing} differ, {equal} equal" if several else "")
        self.toggle.setText("Hide equal" if self._shows_equal else "Show equal")
        self.toggle.setVisible(bool(self._settings) and (several or self._shows_equal or equal > 0))
        rows = self.rows
        self.sentence.setText("" if rows else self._sentence())
        self.sentence.setVisible(not rows)
        self.table.setVisible(bool(rows))
        self.table.setRowCount(len(rows))
        self.table.setColumnCount(1 + len(self._titles))
        for place, title in enumerate(("setting", *self._titles)):
            item = QTableWidgetItem(title)
            side = Qt.AlignmentFlag.AlignRight if place else Qt.AlignmentFlag.AlignLeft
            item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
            item.setToolTip(title)
            self.table.setHorizontalHeaderItem(place, item)
        for number, row in enumerate(rows):
            for place, text in enumerate((row.name, *row.values)):
                self.table.setItem(number, place, self._item(text, place, row.differs))
        self._size(len(rows))

    def _item(self, text: str, place: int, differs: bool) -> QTableWidgetItem:
        # human.weight says as much as rewards.human.weight, and is not cut
        item = QTableWidgetItem(text if place else text.removeprefix("rewards."))
        item.setFont(theme.font(12, mono=True))
        item.setForeground(theme.current().color("text" if differs else "text3"))
        item.setToolTip(text)
        side = Qt.AlignmentFlag.AlignRight if place else Qt.AlignmentFlag.AlignLeft
        item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        return item

    def _size(self, rows: int) -> None:
        self.table.verticalHeader().setDefaultSectionSize(theme.px(tokens.ROW_DETAIL))
        head = theme.px(tokens.TABLE_HEADER_HEIGHT) + 2
        bar = theme.px(10) if len(self._titles) > 2 else 0
        self.table.setFixedHeight(head + bar + min(rows, _MOST_ROWS) * theme.px(tokens.ROW_DETAIL))
        header = self.table.horizontalHeader()
        few = len(self._titles) <= 2  # then the names, which may be long dotted ones, get what the values leave
        for place in range(self.table.columnCount()):
            stretches = few and place == 0
            header.setSectionResizeMode(
                place, QHeaderView.ResizeMode.Stretch if stretches else QHeaderView.ResizeMode.Fixed
            )
            if not stretches:
                self.table.setColumnWidth(place, theme.px(_VALUE_WIDTH if place else _NAME_WIDTH))

    def _sentence(self) -> str:
        if not self._titles:
            return "Tick two runs to see in which settings they differ."
        return "The runs agree in every setting." if len(self._titles) > 1 else "Tick another run to see what differs."
