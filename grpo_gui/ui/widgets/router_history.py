"""The history of decisions: a search field and filters over a table, and the chosen decision in full."""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QSplitter,
    QVBoxLayout,
)

from grpo_gui.store.records_router import DecisionQuery
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.formatting import count
from grpo_gui.ui.models.decision_history import Column, DecisionHistory, details
from grpo_gui.ui.models.visible_text import paragraph
from grpo_gui.ui.router_engine import RouterEngine, RouterOverview
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.widgets.plain_table import Columns, PlainTable

_COLUMNS = Columns(
    widths={Column.NUMBER: 68, Column.TIME: 138, Column.CLASS: 76, Column.POLICY: 76},
    stretched=(Column.QUERY, Column.ANSWERS),
    least=320,
    give_way=(Column.POLICY, Column.TIME, Column.CLASS),
)
_SEARCH_AFTER_MS = 200
_ALL_CLASSES, _ALL_MODELS = "all classes", "all models"


class HistoryCard(Card):
    """Reads while it can be seen."""

    def __init__(self, engine: RouterEngine) -> None:
        super().__init__(padding=0)
        self.history = DecisionHistory(engine, self)
        self.search = QLineEdit()
        self.classes, self.models = QComboBox(), QComboBox()
        self.unrated = QCheckBox("not rated")
        self.found = label("", "hint")
        self.table = _DecisionTable(self.history)
        self.details = QPlainTextEdit()
        self._decisions = -1
        self._ratings = -1
        self._chosen = 0  # decision of the row under the cursor
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_SEARCH_AFTER_MS)
        self._lay_out()
        self._connect()

    def show_overview(self, overview: RouterOverview) -> None:
        """Offer the classes and models that there are, and read again when something was decided or rated."""
        _offer(self.classes, _ALL_CLASSES, overview.weights.classes)
        _offer(self.models, _ALL_MODELS, overview.weights.models)
        state = (overview.decisions, overview.ratings + overview.waiting)
        if state != (self._decisions, self._ratings):
            self._decisions, self._ratings = state
            if self.isVisible():
                self._find()

    def keep_secret(self, decision: int | None) -> None:
        """Do not tell who answered in a decision, since it is being rated; None: there is nothing to hide."""
        if decision != self.history.secret:
            self.history.keep_secret(decision)
            self._show_details()

    def showEvent(self, event: QShowEvent) -> None:
        """Read when it comes into sight."""
        super().showEvent(event)
        self._find()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down goes from the search field to the table."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Down:
            self.table.setFocus()
            return True
        return super().eventFilter(watched, event)

    def _find(self) -> None:
        self.history.find(
            DecisionQuery(
                search=self.search.text().strip(),
                query_class=_chosen(self.classes),
                model=_chosen(self.models),
                unrated=self.unrated.isChecked(),
            )
        )

    def _search_soon(self) -> None:
        self._typing.start()

    def _show_found(self) -> None:
        shown = len(self.history.records)
        more = " or more" if self.history.canFetchMore() else ""
        self.found.setText(f"{count(shown)}{more}" if shown else "no decision")
        numbers = [record.decided.decision for record in self.history.records]
        if shown and not self.table.currentIndex().isValid():
            self.table.selectRow(numbers.index(self._chosen) if self._chosen in numbers else 0)
        self._show_details()

    def _show_details(self) -> None:
        record = self.history.record(self.table.currentIndex().row())
        if record is not None:
            self._chosen = record.decided.decision
        if record is not None and record.decided.decision == self.history.secret:
            self.details.setPlainText(
                f"{paragraph(record.decided.query)}\n\nIt is being rated; the names come after that."
            )
        else:
            self.details.setPlainText("" if record is None else paragraph(details(record)))

    def _lay_out(self) -> None:
        self.search.setPlaceholderText("Search queries and answers")
        self.search.setAccessibleName("Search queries and answers")
        self.search.setClearButtonEnabled(True)
        self.search.installEventFilter(self)
        self.classes.setAccessibleName("Class")
        self.models.setAccessibleName("Model that was asked")
        self.unrated.setToolTip("Only decisions of which nothing is rated.")
        head = QHBoxLayout()
        head.setContentsMargins(12, 8, 12, 4)
        head.setSpacing(8)
        head.addWidget(self.search, 1)
        for widget in (self.classes, self.models, self.unrated, self.found):
            head.addWidget(widget)
        self.details.setReadOnly(True)
        self.details.setTabChangesFocus(True)
        self.details.setAccessibleName("The chosen decision")
        self.details.setObjectName("decision")
        self.details.setStyleSheet("QPlainTextEdit#decision { border: none; padding: 4px 12px; }")
        theme.follow(self.details, lambda: self.details.setFont(theme.font(13)))
        panes = QSplitter(Qt.Orientation.Horizontal)
        panes.setObjectName("router-history")
        panes.setHandleWidth(1)
        panes.setChildrenCollapsible(False)
        panes.addWidget(self.table)
        panes.addWidget(self.details)
        panes.setStretchFactor(0, 3)
        panes.setStretchFactor(1, 2)
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(panes, 1)
        self.body.addLayout(column, 1)

    def _connect(self) -> None:
        self._typing.timeout.connect(self._find)
        self.search.textChanged.connect(self._search_soon)
        self.classes.activated.connect(self._find)
        self.models.activated.connect(self._find)
        self.unrated.toggled.connect(self._find)
        self.history.modelReset.connect(self._show_found)
        self.history.rowsInserted.connect(self._show_found)
        self.table.selectionModel().currentRowChanged.connect(self._show_details)


def _offer(box: QComboBox, everything: str, names: tuple[str, ...]) -> None:
    wanted = [everything, *names]
    if [box.itemText(place) for place in range(box.count())] != wanted:
        chosen = box.currentText()
        box.clear()
        box.addItems(wanted)
        box.setCurrentIndex(wanted.index(chosen) if chosen in wanted else 0)


def _chosen(box: QComboBox) -> str | None:
    return box.currentText() if box.currentIndex() > 0 else None


class _DecisionTable(PlainTable):
    """Columns may be dragged where they do not share the width."""

    def __init__(self, history: DecisionHistory) -> None:
        super().__init__("Decisions", history, _COLUMNS, tokens.ROW_LIST)
        self.setMinimumWidth(theme.px(320))
        for column in _COLUMNS.widths:
            self.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
        theme.follow(self, self.restyle)
