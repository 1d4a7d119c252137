"""Who should answer: a row per model with score, probability, propensity and what is known of it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from grpo_gui.router.explanation import Explanation, ModelExplanation
from grpo_gui.ui.formatting import NOTHING, count, number, seconds_text
from grpo_gui.ui.models import router_words
from grpo_gui.ui.models.headings import heading
from grpo_gui.ui.models.visible_text import one_line
from grpo_gui.ui.router_engine import DEAD, READY, RouterOverview

Index = QModelIndex | QPersistentModelIndex
BAR_ROLE = Qt.ItemDataRole.UserRole  # (probability, low, high, others were asked) | None
LOOK_ROLE = Qt.ItemDataRole.UserRole + 1
_ROOT = QModelIndex()


class Column(IntEnum):
    """The columns, left to right."""

    MODEL = 0
    BAR = 1
    PROBABILITY = 2
    SCORE = 3
    PROPENSITY = 4
    QUALITY = 5
    RATINGS = 6
    COST = 7
    LATENCY = 8
    STATE = 9


HEADERS = ("model", "probability, 95 %", "", "score", "propensity", "quality", "ratings", "cost", "time", "state")
_TOOLTIPS = (
    "The model's name.",
    "How probable the active policy makes each model: the softmax of the scores, with a floor. The whisker is the "
    "95 % interval that follows from the interval of the quality.",
    "How probable the active policy makes each model.",
    "The active policy's weight before the softmax.",
    "The probability to be asked first: Thompson sampling, which also tries what is little known. It is kept with the "
    "decision, so that ratings can be weighed by it.",
    "Mean of the ratings, 0 to 1, shrunk toward the model's other classes where there are few.",
    "Ratings in this class.",
    "Mean cost of an answer in your unit.",
    "Mean seconds of an answer.",
    "Whether it was asked, or why it cannot be.",
)


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """One model: `known` is None before a query is explained, and for models that cannot be asked."""

    model: str
    known: ModelExplanation | None
    word: str  # asked, loading, no answer
    sentence: str


class ChoiceTableModel(QAbstractTableModel):
    """Rows in the order of their probability, those that cannot be asked last."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[ChoiceRow] = []
        self._query_class = ""
        self._is_asked = False

    def show(self, overview: RouterOverview, explanation: Explanation | None, asked: tuple[str, ...]) -> None:
        """Show other rows; `asked` are the models of the decision at hand."""
        states = {model.name: model for model in overview.models}
        known = [] if explanation is None else list(explanation.models)
        names = [model.model for model in known]
        order = names + [name for name in states if name not in names]
        by_name = {model.model: model for model in known}
        rows = []
        for name in order:
            model = states.get(name)
            word = "asked" if name in asked else ""
            if model is not None and model.state != READY:
                word = "no answer" if model.state == DEAD else model.state
            rows.append(ChoiceRow(name, by_name.get(name), word, model.sentence if model is not None else ""))
        self._query_class = "" if explanation is None else explanation.query_class
        self._is_asked = bool(asked)
        if [row.model for row in rows] == [row.model for row in self.rows]:
            self.rows = rows
            self.refresh()
        else:
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()

    def refresh(self) -> None:
        """Draw all cells again."""
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(Column) - 1))

    def words(self, place: int) -> str:
        """A row explained; empty where nothing is known."""
        row = self.rows[place]
        if row.known is None:
            return row.sentence
        return router_words.why(row.known, self._query_class)

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Rows of the table."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Columns of the table."""
        return 0 if parent.isValid() else len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Names of the columns with their definitions."""
        return heading(section, orientation, role, HEADERS, _TOOLTIPS, _alignment)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """One cell."""
        row, column = self.rows[index.row()], Column(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return _text(row, column)
            case Qt.ItemDataRole.AccessibleTextRole if column is Column.BAR and row.known is not None:
                return f"{number(row.known.probability_low)} to {number(row.known.probability_high)}"
            case Qt.ItemDataRole.ToolTipRole:
                return row.sentence if column is Column.STATE and row.sentence else self.words(index.row())
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case _ if role == BAR_ROLE:
                known = row.known
                if known is None or column is not Column.BAR:
                    return None
                return (
                    known.probability,
                    known.probability_low,
                    known.probability_high,
                    self._is_asked and row.word != "asked",
                )
            case _ if role == LOOK_ROLE:
                return _look(row, column)
            case _:
                return None


_VALUES: dict[Column, Callable[[ModelExplanation], str]] = {
    Column.PROBABILITY: lambda known: number(known.probability),
    Column.SCORE: lambda known: number(known.weight, sign=True),
    Column.PROPENSITY: lambda known: number(known.propensity, 3 if known.propensity < 0.1 else 2),
    Column.QUALITY: lambda known: number(known.quality),
    Column.RATINGS: lambda known: count(known.ratings),
    Column.COST: lambda known: number(known.cost, 3 if known.cost < 1 else 2) if known.cost else "0",
    Column.LATENCY: lambda known: seconds_text(known.latency_s) if known.latency_s else NOTHING,
}


def _text(row: ChoiceRow, column: Column) -> str:
    if column is Column.MODEL:
        return one_line(row.model)
    if column is Column.STATE:
        return row.word
    if column is Column.BAR:
        return ""
    return NOTHING if row.known is None else _VALUES[column](row.known)


def _look(row: ChoiceRow, column: Column) -> str:
    if column is Column.STATE:
        return {"asked": "softtext", "no answer": "warn"}.get(row.word, "text3")
    return "text" if row.known is not None else "text3"


def _alignment(column: int) -> Qt.AlignmentFlag:
    left = column in (Column.MODEL, Column.BAR, Column.STATE)
    side = Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
