"""The "Add filter" menu of the Completions view."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QMenu, QWidget

from grpo_gui.store.records import CompletionQuery
from grpo_gui.ui.models.completion_filters import RANGES, cleared, is_filtered, with_fields
from grpo_gui.ui.widgets.range_popup import RangePopup

_RANGE_TITLES = {"steps": "Step range", "reward": "Reward range", "tokens": "Length range in tokens"}
_YES_NO = (
    ("correct", (("Right only", True), ("Wrong only", False))),
    ("truncated", (("Truncated only", True), ("Ended by itself only", False))),
)


class FilterMenu(QMenu):
    """Offers every filter; `changed` brings the query with the chosen one in it."""

    changed = Signal(object)  # CompletionQuery

    def __init__(self, query: CompletionQuery, tasks: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self._query = query
        self._anchor = parent
        for name, title in _RANGE_TITLES.items():
            self.addAction(f"{title}…").triggered.connect(lambda _=False, name=name: self._ask_range(name))
        if len(tasks) > 1:
            self._add_tasks(tasks)
        for field, choices in _YES_NO:
            self.addSeparator()
            for text, value in choices:
                action = self.addAction(text)
                action.triggered.connect(lambda _=False, field=field, value=value: self._set(field, value))
        self.addSeparator()
        superseded = self.addAction("Superseded only")
        superseded.setToolTip("Answers of steps that were done anew when the run was resumed from an earlier one.")
        superseded.triggered.connect(lambda: self._set("superseded", True))
        if is_filtered(query):
            self.addSeparator()
            self.addAction("Remove all filters").triggered.connect(lambda: self.changed.emit(cleared(self._query)))

    def _add_tasks(self, tasks: Sequence[str]) -> None:
        menu = self.addMenu("Task")
        for task in tasks:
            menu.addAction(task.replace("&", "&&")).triggered.connect(
                lambda _=False, task=task: self._set("task", task)
            )

    def _set(self, field: str, value: object) -> None:
        self.changed.emit(with_fields(self._query, **{field: value}))

    def _ask_range(self, name: str) -> None:
        popup = range_popup(self._query, name, self._anchor)
        popup.applied.connect(lambda low, high: self.changed.emit(with_range(self._query, name, low, high)))
        popup.open_at(self._anchor.mapToGlobal(QPoint(0, self._anchor.height() + 2)))


def range_popup(query: CompletionQuery, name: str, parent: QWidget) -> RangePopup:
    """Make the popup for a range filter of RANGES, filled with what the query has."""
    low, high, _ = RANGES[name]
    is_whole = name != "reward"
    return RangePopup(_RANGE_TITLES[name], getattr(query, low), getattr(query, high), whole=is_whole, parent=parent)


def with_range(query: CompletionQuery, name: str, low: object, high: object) -> CompletionQuery:
    """Give the query with the ends of a range filter set."""
    low_field, high_field, _ = RANGES[name]
    return with_fields(query, **{low_field: low, high_field: high})
