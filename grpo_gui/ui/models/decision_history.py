"""The router's past decisions as a table that grows while it is scrolled; searched in the store."""

from collections.abc import Callable
from enum import IntEnum
from functools import partial

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from grpo_gui.store.records_router import DecisionQuery, DecisionRecord
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.formatting import NOTHING, count, number, seconds_text
from grpo_gui.ui.models.headings import heading
from grpo_gui.ui.models.visible_text import one_line
from grpo_gui.ui.router_engine import RouterEngine
from grpo_gui.ui.run_text import start_time

Index = QModelIndex | QPersistentModelIndex
PAGE = 50  # decisions that the engine gives at once
_ROOT = QModelIndex()


class Column(IntEnum):
    """The columns, left to right."""

    NUMBER = 0
    TIME = 1
    QUERY = 2
    CLASS = 3
    ANSWERS = 4
    POLICY = 5


HEADERS = ("decision", "when", "query", "class", "asked and rated", "by")
_TOOLTIPS = (
    "Decisions count from 1.",
    "When it was asked.",
    "What was asked.",
    "The class that the query had then.",
    "The models that were asked, in the order in which they were drawn, with your rating from 1 to 5.",
    "The policy that was active.",
)


class DecisionHistory(QAbstractTableModel):
    """Newest first; `fetchMore` reads the next page below the last row."""

    problem = Signal(str, str)

    def __init__(self, engine: RouterEngine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self.records: list[DecisionRecord] = []
        self.query = DecisionQuery()
        self._has_more = False
        self._is_reading = False
        self._number = 0
        self.secret: int | None = None  # the decision that is being rated: nobody may see whose answers they are

    def find(self, query: DecisionQuery) -> None:
        """Show what another query finds, or look again."""
        self.query = query
        self._number += 1
        self._is_reading = True
        self._engine.history(query, None, partial(self._take_first, self._number), self._failed)

    def keep_secret(self, decision: int | None) -> None:
        """Do not tell who answered in this decision."""
        self.secret = decision
        if self.records:
            self.dataChanged.emit(self.index(0, Column.ANSWERS), self.index(len(self.records) - 1, Column.ANSWERS))

    def record(self, place: int) -> DecisionRecord | None:
        """The decision of a row, None outside of the table."""
        return self.records[place] if 0 <= place < len(self.records) else None

    def canFetchMore(self, parent: Index = _ROOT) -> bool:
        """True while there are older decisions and none are being read."""
        return not parent.isValid() and self._has_more and not self._is_reading

    def fetchMore(self, _parent: Index = _ROOT) -> None:
        """Read the next page."""
        if self.canFetchMore() and self.records:
            self._is_reading = True
            before = self.records[-1].decided.decision
            self._engine.history(self.query, before, partial(self._take_more, self._number), self._failed)

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Decisions read so far."""
        return 0 if parent.isValid() else len(self.records)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Columns of the table."""
        return 0 if parent.isValid() else len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Names of the columns with their definitions."""
        return heading(section, orientation, role, HEADERS, _TOOLTIPS, _alignment)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """One cell."""
        record, column = self.records[index.row()], Column(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole if column is Column.ANSWERS and record.decided.decision == self.secret:
                return f"{len(record.decided.asked)} asked, being rated"
            case Qt.ItemDataRole.DisplayRole:
                return _TEXTS[column](record)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.ToolTipRole if column is Column.QUERY:
                return record.decided.query[:1000]
            case Qt.ItemDataRole.ToolTipRole if column is Column.CLASS:
                return f"because {record.decided.reason}"
            case _:
                return None

    def _take_first(self, number_: int, records: tuple[DecisionRecord, ...]) -> None:
        if number_ != self._number:
            return
        self.beginResetModel()
        self.records = list(records)
        self._has_more, self._is_reading = len(records) == PAGE, False
        self.endResetModel()

    def _take_more(self, number_: int, records: tuple[DecisionRecord, ...]) -> None:
        if number_ != self._number:
            return
        self._has_more, self._is_reading = len(records) == PAGE, False
        if records:
            self.beginInsertRows(_ROOT, len(self.records), len(self.records) + len(records) - 1)
            self.records.extend(records)
            self.endInsertRows()

    def _failed(self, failure: TaskFailure) -> None:
        self._is_reading = self._has_more = False
        self.problem.emit(failure.message, failure.traceback)


def stars_of(record: DecisionRecord) -> dict[str, float]:
    """What each rated model got, as 1 to 5."""
    return {rating.model: 1 + 4 * rating.quality for rated in record.ratings for rating in rated.ratings}


def stars_text(stars: float) -> str:
    """Stars without needless digits."""
    return number(stars, 0 if abs(stars - round(stars)) < 1e-9 else 1)


def details(record: DecisionRecord) -> str:
    """All of a decision as text: the query, then each answer with its model, numbers and rating."""
    decided, stars = record.decided, stars_of(record)
    answers = {answer.model: answer for answer in record.answers}
    places = {model: place for place, model in enumerate(decided.candidates)}
    parts = [
        decided.query,
        f"Class {decided.query_class}, because {decided.reason}. Drawn by "
        f"{'Thompson sampling' if decided.sampler == 'thompson' else 'the probabilities'}, policy: {decided.policy}.",
    ]
    for model, propensity in zip(decided.asked, decided.propensities, strict=True):
        probability = number(decided.probabilities[places[model]])
        rated = f"rated {stars_text(stars[model])}" if model in stars else "not rated"
        line = f"{model}: {rated}, probability {probability}, propensity {number(propensity)}"
        answer = answers.get(model)
        if answer is None:
            parts.append(f"{line}\nNo answer was kept.")
            continue
        tokens = f", {count(answer.tokens)} tokens" if answer.tokens else ""
        cost = f", cost {number(answer.cost, 4)}" if answer.cost else ""
        parts.append(
            f"{line}{tokens}{cost}, {seconds_text(answer.latency_s)}\n{answer.error or answer.text or '(empty)'}"
        )
    return "\n\n".join(parts)


def _asked(record: DecisionRecord) -> str:
    stars = stars_of(record)
    return ", ".join(
        f"{one_line(model)} {stars_text(stars[model]) if model in stars else NOTHING}" for model in record.decided.asked
    )


_TEXTS: dict[Column, Callable[[DecisionRecord], str]] = {
    Column.NUMBER: lambda record: count(record.decided.decision),
    Column.TIME: lambda record: start_time(record.time_s),
    Column.QUERY: lambda record: one_line(record.decided.query),
    Column.CLASS: lambda record: one_line(record.decided.query_class),
    Column.ANSWERS: _asked,
    Column.POLICY: lambda record: record.decided.policy,
}


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column == Column.NUMBER else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
