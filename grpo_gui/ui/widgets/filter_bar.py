"""The head of the Completions view: search, groups or flat, sort order, columns, filters and the count."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from grpo_gui.store.records import CompletionQuery
from grpo_gui.ui import theme
from grpo_gui.ui.models.completion_filters import SORTS, chips, with_fields, without
from grpo_gui.ui.widgets.buttons import Chip, SegmentedControl, button, link
from grpo_gui.ui.widgets.filter_menu import FilterMenu
from grpo_gui.ui.widgets.flow_layout import FlowLayout
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.widgets.search_field import SearchField

SEARCH_DELAY_MS = 250


class FilterBar(QWidget):
    """Edits a query; `query_changed` brings the new one. It keeps no filters of its own."""

    query_changed = Signal(object)  # CompletionQuery
    grouping_changed = Signal(bool)  # True: groups
    search_left = Signal()  # Escape or Enter in the search field

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._query = CompletionQuery(run_id=0)
        self._tasks: Sequence[str] = ()
        self.search = SearchField(
            "Search prompt and completion", "Show only completions whose text or prompt contains this. Key: /"
        )
        self.grouping = SegmentedControl([("groups", "Groups"), ("flat", "Flat")], "groups", "Grouping")
        self.sort = _sort_combo()
        self.columns = button("Columns", "columns", tooltip="Choose the columns of the list.")
        self.add_filter = link("Add filter", "add", tooltip="Show only some of the completions.")
        self.count = label("", "small", "Completions that match, of all of the run, and the groups they are in.")
        self.count.setMinimumHeight(theme.px(20))
        self._chip_row = QWidget()
        self._flow = FlowLayout(8, self._chip_row)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SEARCH_DELAY_MS)
        self._lay_out()
        self._connect()

    def show_query(self, query: CompletionQuery) -> None:
        """Show a query without telling of a change."""
        self._query = query
        if self.search.text().strip() != query.search:
            self.search.blockSignals(True)
            self.search.setText(query.search)
            self.search.blockSignals(False)
            self._timer.stop()
        self.sort.blockSignals(True)
        self.sort.setCurrentIndex(self.sort.findData(query.sort))
        self.sort.blockSignals(False)
        self._show_chips()

    def set_tasks(self, tasks: Sequence[str]) -> None:
        """Take the tasks that the run has; with one only there is nothing to choose."""
        self._tasks = tasks

    def chip_texts(self) -> list[str]:
        """Give the filters that are on, as shown."""
        return [chip.label for chip in chips(self._query)]

    def focus_search(self) -> None:
        """Put the cursor into the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def filter_menu(self) -> FilterMenu:
        """Make the menu of the "Add filter" link."""
        menu = FilterMenu(self._query, self._tasks, self.add_filter)
        menu.changed.connect(self.query_changed)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _lay_out(self) -> None:
        first = QHBoxLayout()
        first.setSpacing(8)
        first.addWidget(self.search, 1)
        first.addWidget(self.grouping)
        first.addWidget(self.sort)
        first.addWidget(self.columns)
        second = QHBoxLayout()
        second.setSpacing(12)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self._chip_row.setSizePolicy(policy)
        second.addWidget(self._chip_row, 1)
        second.addWidget(self.count, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 8)
        column.setSpacing(8)
        column.addLayout(first)
        column.addLayout(second)

    def _connect(self) -> None:
        self.search.textEdited.connect(self._timer.start)
        self.search.textChanged.connect(lambda text: None if text else self._timer.start())
        self._timer.timeout.connect(self._apply_search)
        self.search.returnPressed.connect(self._finish_search)
        self.search.escaped.connect(self._leave_search)
        self.grouping.changed.connect(lambda value: self.grouping_changed.emit(value == "groups"))
        self.sort.currentIndexChanged.connect(self._sort_chosen)
        self.add_filter.clicked.connect(self._open_filter_menu)

    def _show_chips(self) -> None:
        while (item := self._flow.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None and widget is not self.add_filter:
                widget.hide()
                widget.deleteLater()
        for chip in chips(self._query):
            widget = Chip(chip.label)
            for cross in widget.findChildren(QPushButton):
                cross.setIconSize(QSize(theme.px(10), theme.px(10)))
            widget.removed.connect(lambda chip=chip: self.query_changed.emit(without(self._query, chip)))
            self._flow.addWidget(widget)
        self._flow.addWidget(self.add_filter)
        self._chip_row.updateGeometry()

    def _apply_search(self) -> None:
        text = self.search.text().strip()
        if text != self._query.search:
            self.query_changed.emit(with_fields(self._query, search=text))

    def _finish_search(self) -> None:
        self._timer.stop()
        self._apply_search()
        self.search_left.emit()

    def _leave_search(self) -> None:
        self.search.clear()
        self._finish_search()

    def _sort_chosen(self, index: int) -> None:
        self.query_changed.emit(with_fields(self._query, sort=self.sort.itemData(index)))

    def _open_filter_menu(self) -> None:
        self.filter_menu().popup(self.add_filter.mapToGlobal(self.add_filter.rect().bottomLeft()))


def _sort_combo() -> QComboBox:
    combo = QComboBox()
    combo.setAccessibleName("Sort")
    combo.setToolTip("The order of the list. In groups: of each group's best match.")
    for value, text in SORTS:
        combo.addItem(f"Sort: {text}", value)
    return combo
