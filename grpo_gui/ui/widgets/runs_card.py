"""The card with the list of runs: search and filters, what can be done with the selected ones, the table."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QPushButton

from grpo_gui.ui import icons, theme
from grpo_gui.ui.models.runs_row import RunFilter, RunRow
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.job_strip import JobStrip
from grpo_gui.ui.widgets.labels import hline, label
from grpo_gui.ui.widgets.overflow_row import OverflowRow
from grpo_gui.ui.widgets.runs_table import RunsTable
from grpo_gui.ui.widgets.search_field import SearchField

_SEARCH_MS = 150
_SEARCH_WIDTH = 230  # at least
_ARCHIVE = "archive"  # among the states

_BUTTONS = (
    ("open", "Open", "train", "Show the run in the Train view (Enter)."),
    ("tags", "Tags", "tag", "Give the selected runs tags (T)."),
    ("note", "Note", "note", "Read and write notes of the run."),
    ("rename", "Rename", "rename", "Give the run another name (F2)."),
    ("archive", "Archive", "archive", "Put the selected runs away; the archive is the last entry among the states."),
    ("delete", "Delete", "trash", "Move the selected runs to the bin (Delete)."),
)


class RunsCard(Card):
    """`asked` names what shall be done with the selected runs; `filter_changed` when others are to be listed."""

    asked = Signal(str)  # open, tags, note, rename, archive, delete, bin, import
    filter_changed = Signal()

    def __init__(self) -> None:
        super().__init__("", padding=0)
        self.table = RunsTable()
        self.search = SearchField(
            "Search name, task, tag, note, setting", "List only runs in which every word is found. Key: /"
        )
        self.states = _choice("State", "All states")
        self.tasks = _choice("Task", "All tasks")
        self.import_ = button("Import", "import", tooltip="Take in or follow a run that was made elsewhere (Ctrl+I).")
        self.bin = button("Bin", "trash", tooltip="What was deleted: take it back, or empty the bin.")
        self.count = label("", "label")
        self.nothing = label("", "lead")
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.buttons: dict[str, QPushButton] = {
            name: button(text, icon, tooltip=tooltip) for name, text, icon, tooltip in _BUTTONS
        }
        self.strip = JobStrip()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SEARCH_MS)
        self._lay_out()
        self._connect()
        self.show_selection()

    @property
    def filter(self) -> RunFilter:
        """Which runs are to be listed."""
        return RunFilter(
            self.search.text().strip(),
            "" if self.shows_archive else self.states.currentData() or "",
            self.tasks.currentData() or "",
            self.shows_archive,
        )

    @property
    def shows_archive(self) -> bool:
        """True while the archive is listed."""
        return bool(self.states.currentData() == _ARCHIVE)

    def show_rows(self, rows: Sequence[RunRow], everything: Sequence[RunRow], overlaid: int) -> None:
        """List `rows`, the ones of `everything` that the filter finds."""
        states = {row.run.status.value: row.run.status.value for row in everything if not row.run.archived}
        archived = sum(row.run.archived for row in everything)
        if archived or self.shows_archive:
            states[_ARCHIVE] = f"archive ({archived})"
        _offer(self.states, "All states", states)
        _offer(self.tasks, "All tasks", {row.run.task: row.run.task for row in everything})
        chosen = {row.id for row in self.table.selected}
        self.table.runs.set_rows(rows)
        if {row.id for row in self.table.selected} != chosen:
            self.table.select(chosen)
        some = f"{len(rows)} run{'s' if len(rows) != 1 else ''}"
        self.count.setText(f"{some}, {overlaid} overlaid" if overlaid else some)
        self.nothing.setText("" if rows else self._why_nothing(bool(everything)))
        self.nothing.setVisible(not rows)
        self.table.setVisible(bool(rows))
        self.show_selection()

    def show_selection(self) -> None:
        """Enable what can be done with the selected runs."""
        selected = self.table.selected
        for name in self.buttons:
            one_only = name in ("open", "note", "rename")
            self.buttons[name].setEnabled(len(selected) == 1 if one_only else bool(selected))
        archived = bool(selected) and all(row.run.archived for row in selected)
        self.buttons["archive"].setText(_archive_word(archived))

    def focus_search(self) -> None:
        """Put the cursor into the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def open_menu(self, position: QPoint) -> QMenu:
        """The menu of the selected runs, opened at a place of the table."""
        menu = QMenu(self)
        for name, _, icon, _ in _BUTTONS:
            action = menu.addAction(icons.icon(icon), self.buttons[name].text())
            action.setEnabled(self.buttons[name].isEnabled())
            action.triggered.connect(lambda _=False, chosen=name: self.asked.emit(chosen))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.table.viewport().mapToGlobal(position))
        return menu

    def _why_nothing(self, has_runs: bool) -> str:
        if self.shows_archive:
            return "Nothing in the archive fits."
        return "No run fits; empty the search or choose all states and tasks." if has_runs else "No runs yet."

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 8, 12, 8)
        bar.setSpacing(8)
        self.search.setMinimumWidth(theme.px(_SEARCH_WIDTH))
        bar.addWidget(self.search, 2)
        for widget in (self.states, self.tasks, self.import_, self.bin):
            bar.addWidget(widget)
        bar.addWidget(self.count)
        bar.addStretch(1)
        bar.addWidget(OverflowRow(list(self.buttons.values())))
        self.body.setSpacing(0)
        self.body.addLayout(bar)
        self.body.addWidget(self.strip)
        self.body.addWidget(hline())
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.nothing, 1)
        self.nothing.hide()
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    def _connect(self) -> None:
        self.search.textChanged.connect(lambda _: self._timer.start())
        self._timer.timeout.connect(self.filter_changed)
        self.search.returnPressed.connect(self.table.setFocus)
        self.search.escaped.connect(self._leave_search)
        for choice in (self.states, self.tasks):
            choice.activated.connect(lambda _: self.filter_changed.emit())
        self.import_.clicked.connect(lambda: self.asked.emit("import"))
        self.bin.clicked.connect(lambda: self.asked.emit("bin"))
        for name in self.buttons:
            self.buttons[name].clicked.connect(lambda _=False, chosen=name: self.asked.emit(chosen))
        self.table.chosen.connect(self.show_selection)
        self.table.opened.connect(lambda _: self.asked.emit("open"))
        self.table.rename_asked.connect(lambda: self._ask_if_possible("rename"))
        self.table.tags_asked.connect(lambda: self._ask_if_possible("tags"))
        self.table.delete_asked.connect(lambda: self._ask_if_possible("delete"))
        self.table.customContextMenuRequested.connect(self.open_menu)

    def _ask_if_possible(self, name: str) -> None:
        if self.buttons[name].isEnabled():
            self.asked.emit(name)

    def _leave_search(self) -> None:
        self.search.clear()
        self.table.setFocus()


def _choice(name: str, everything: str) -> QComboBox:
    result = QComboBox()
    result.setAccessibleName(name)
    result.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    result.setMinimumContentsLength(7)
    result.addItem(everything, "")
    return result


def _offer(box: QComboBox, everything: str, values: dict[str, str]) -> None:
    """Offer these values by their texts and keep the choice; nothing happens when they are offered already."""
    wanted = [("", everything), *values.items()]
    if [(box.itemData(place), box.itemText(place)) for place in range(box.count())] == wanted or box.view().isVisible():
        return
    chosen = box.currentData()
    box.clear()
    for value, text in wanted:
        box.addItem(text, value)
    box.setCurrentIndex(max(box.findData(chosen), 0))


def _archive_word(archived: bool) -> str:
    return "Bring back" if archived else "Archive"
