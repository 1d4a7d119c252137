"""The models between which is routed: where they are, whether they answer, and what can be done with them."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QBrush, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QHeaderView, QTableWidget, QTableWidgetItem, QVBoxLayout

from grpo_gui.ui import icons, theme, tokens
from grpo_gui.ui.formatting import number
from grpo_gui.ui.models.visible_text import one_line
from grpo_gui.ui.router_engine import DEAD, LOADING, READY, RouterModel, RouterOverview
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import hline, label

_HEADERS = ("model", "kind", "where", "cost / 1000", "state")
_SHIPPED = "comes with grpo-gui"
_WHERE, _STATE = 2, 4
_WIDTHS = (150, 76, 0, 92, 0)
_STATES = {READY: ("ready", "good", "check"), LOADING: ("loading", "text3", "again"), DEAD: ("dead", "warn", "warning")}


class ModelsCard(Card):
    """The signals give the name of the model under the cursor."""

    add_snapshot_asked = Signal()
    add_endpoint_asked = Signal()
    rename_asked = Signal(str)
    remove_asked = Signal(str)
    retry_asked = Signal(str)

    def __init__(self) -> None:
        super().__init__(padding=0)
        self._models: tuple[RouterModel, ...] = ()
        self.add_snapshot = button("Add snapshot", "snapshot", tooltip="Let a snapshot of a run answer too.")
        self.add_endpoint = button("Add endpoint", "add", tooltip="Let a model of a server answer too.")
        self.retry = button("Try again", "again", tooltip="Try a dead model again now.")
        self.rename = button("Rename", "note", tooltip="Give it another name; its ratings go along (F2).")
        self.remove = button("Remove", "remove", tooltip="Do not ask it any more; its history stays (Delete).")
        self.table = _ModelTable()
        self.sentence = label("", "hint", wrap=True)
        self._lay_out()
        self._connect()

    @property
    def names(self) -> list[str]:
        """The names in use."""
        return [model.name for model in self._models]

    @property
    def current(self) -> RouterModel | None:
        """The model under the cursor."""
        place = self.table.currentRow()
        return self._models[place] if 0 <= place < len(self._models) else None

    def show_overview(self, overview: RouterOverview) -> None:
        """Show the models; the cursor stays on its model."""
        if overview.models == self._models:
            return
        current = self.current
        self._models = overview.models
        self._fill()
        place = next((i for i, model in enumerate(self._models) if current and model.name == current.name), 0)
        self.table.setCurrentCell(place, 0)
        self._show_current()

    def _fill(self) -> None:
        self.table.setRowCount(len(self._models))
        for row, model in enumerate(self._models):
            word, color, icon = _STATES[model.state]
            cost = number(model.cost_per_1000_tokens, 4) if model.cost_per_1000_tokens else "0"
            state = f"{word}: {model.sentence}" if model.sentence else word
            for column, text in enumerate((model.name, model.kind, _where(model), cost, state)):
                item = QTableWidgetItem(one_line(text))
                item.setToolTip(text)
                if column == _STATE:
                    item.setIcon(icons.icon(icon, color))
                    item.setForeground(QBrush(theme.current().color("text" if model.state == READY else color)))
                self.table.setItem(row, column, item)

    def _show_current(self) -> None:
        model = self.current
        self.rename.setEnabled(model is not None)
        self.remove.setEnabled(model is not None)
        self.retry.setEnabled(model is not None and model.state == DEAD)
        self.sentence.setText("" if model is None else model.sentence or _about(model))

    def _emit_current(self, signal: Callable[[str], None]) -> None:
        if self.current is not None:
            signal(self.current.name)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(12, 8, 8, 8)
        head.setSpacing(8)
        head.addWidget(label("Models", "title"))
        head.addStretch(1)
        for widget in (self.add_snapshot, self.add_endpoint, self.retry, self.rename, self.remove):
            head.addWidget(widget)
        self.sentence.setContentsMargins(12, 4, 12, 8)
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(hline())
        column.addWidget(self.table, 1)
        column.addWidget(hline())
        column.addWidget(self.sentence)
        self.body.addLayout(column, 1)

    def _connect(self) -> None:
        self.add_snapshot.clicked.connect(self.add_snapshot_asked)
        self.add_endpoint.clicked.connect(self.add_endpoint_asked)
        self.rename.clicked.connect(lambda: self._emit_current(self.rename_asked.emit))
        self.remove.clicked.connect(lambda: self._emit_current(self.remove_asked.emit))
        self.retry.clicked.connect(lambda: self._emit_current(self.retry_asked.emit))
        self.table.rename_pressed.connect(lambda: self._emit_current(self.rename_asked.emit))
        self.table.delete_pressed.connect(lambda: self._emit_current(self.remove_asked.emit))
        self.table.currentCellChanged.connect(self._show_current)
        theme.follow(self, self._fill)
        self._show_current()


def _where(model: RouterModel) -> str:
    return _SHIPPED if model.kind == "built-in" else model.where


def _about(model: RouterModel) -> str:
    if model.kind == "built-in":
        return f"{model.name} comes with grpo-gui and answers in this program."
    if model.kind == "snapshot":
        return f"{model.name} answers in this program, from {model.where}."
    return f"{model.name} answers at {model.where}."


class _ModelTable(QTableWidget):
    """F2 renames, Delete removes."""

    rename_pressed = Signal()
    delete_pressed = Signal()

    def __init__(self) -> None:
        super().__init__(0, len(_HEADERS))
        self.setHorizontalHeaderLabels(list(_HEADERS))
        self.setAccessibleName("Models")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setSectionsClickable(False)
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for column in (_WHERE, _STATE):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        theme.follow(self, self._restyle)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Rename or remove by key."""
        match event.key():
            case Qt.Key.Key_F2:
                self.rename_pressed.emit()
            case Qt.Key.Key_Delete:
                self.delete_pressed.emit()
            case _:
                super().keyPressEvent(event)

    def _restyle(self) -> None:
        self.verticalHeader().setDefaultSectionSize(theme.px(tokens.ROW_LIST))
        for column, width in enumerate(_WIDTHS):
            if width:
                self.setColumnWidth(column, theme.px(width))
