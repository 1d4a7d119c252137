"""Who should answer: the models with probability, interval and propensity, and in words why."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, Qt
from PySide6.QtGui import QPainter

from grpo_gui.router.explanation import Explanation
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.formatting import count, number
from grpo_gui.ui.models.choice_table_model import BAR_ROLE, LOOK_ROLE, ChoiceTableModel, Column
from grpo_gui.ui.plot_style import pen
from grpo_gui.ui.router_engine import RouterOverview
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.cell_delegates import CellDelegate, PaintedDelegate
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.widgets.plain_table import Columns, PlainTable

Index = QModelIndex | QPersistentModelIndex

_COLUMNS = Columns(
    widths={
        Column.MODEL: 132,
        Column.PROBABILITY: 54,
        Column.SCORE: 56,
        Column.PROPENSITY: 78,
        Column.QUALITY: 60,
        Column.RATINGS: 60,
        Column.COST: 54,
        Column.LATENCY: 56,
        Column.STATE: 78,
    },
    stretched=(Column.BAR,),
    least=120,
    give_way=(Column.COST, Column.LATENCY, Column.RATINGS, Column.SCORE, Column.QUALITY),
)
_BAR = 8
ASK_FIRST = "Type a query to see who should answer it, and why."


class ChoiceCard(Card):
    """A row can be chosen: then the words below are about that model."""

    def __init__(self) -> None:
        super().__init__("Who should answer", padding=0)
        self.header.setContentsMargins(12, 4, 12, 0)
        self.limits = label("", "hint")
        self.header.add_widget(self.limits)
        self.table = ChoiceTable()
        self.why = label(ASK_FIRST, "hint", wrap=True)
        self.why.setContentsMargins(12, 2, 12, 8)
        self.why.setMinimumHeight(theme.px(38))
        self.why.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.why)
        self._explanation: Explanation | None = None
        self.table.selectionModel().currentRowChanged.connect(self._show_why)

    def show_choice(
        self, overview: RouterOverview, explanation: Explanation | None, asked: tuple[str, ...] = ()
    ) -> None:
        """Show what is known of each model for a query, None: there is no query."""
        self._explanation = explanation
        self.table.choices.show(overview, explanation, asked)
        if explanation is None:
            self.header.set_hint("")
        else:
            ratings = explanation.ratings
            some = f"{count(ratings)} {'rating' if ratings == 1 else 'ratings'}"
            self.header.set_hint(f"class {explanation.query_class}, {some}, by the {explanation.policy}")
        self.limits.setText(f"floor {number(overview.probability_floor)}, cap {number(overview.logit_cap, 0)}")
        self.limits.setToolTip(
            "No model falls below the floor, however badly it is rated; no score goes beyond the cap."
        )
        self._show_why()

    def _show_why(self) -> None:
        place = self.table.currentIndex().row()
        rows = self.table.choices.rows
        if 0 <= place < len(rows) and self.table.choices.words(place):
            self.why.setText(f"{rows[place].model}: {self.table.choices.words(place)}")
        else:
            self.why.setText(ASK_FIRST if self._explanation is None else self._explanation.sentence)


class ChoiceTable(PlainTable):
    """The rows, with a bar and its whisker."""

    def __init__(self) -> None:
        choices = ChoiceTableModel()
        super().__init__("Models and how probable each is", choices, _COLUMNS, tokens.ROW_DETAIL)
        choices.setParent(self)
        self.choices = choices
        self.setItemDelegate(CellDelegate(self, LOOK_ROLE))
        self.setItemDelegateForColumn(Column.BAR, _BarDelegate(self))
        theme.follow(self, self.restyle)


class _BarDelegate(PaintedDelegate):
    """A probability as a bar on a track, with the whisker of its interval."""

    def paint_content(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """Draw bar and whisker."""
        value = index.data(BAR_ROLE)
        _paint_bar(painter, rect.adjusted(6, 0, -8, 0), value if isinstance(value, tuple) else None)


def _paint_bar(painter: QPainter, rect: QRect, value: tuple[float, float, float, bool] | None) -> None:
    now, height = theme.current(), theme.px(_BAR)
    track = QRectF(rect.x(), rect.center().y() - height / 2 + 1, rect.width(), height)
    painter.fillRect(track, now.color("line"))
    if value is None:
        return
    probability, low, high, is_passed_over = value
    color = now.mix("surface", "text3", 0.7) if is_passed_over else now.color("blue")
    painter.fillRect(QRectF(track.x(), track.y(), track.width() * probability, height), color)
    painter.setPen(pen("text"))
    left, right = (round(track.x() + track.width() * end) for end in (low, high))
    middle, whisker = round(track.center().y()), theme.px(5)
    painter.drawLine(left, middle, right, middle)
    for end in (left, right):
        painter.drawLine(end, middle - whisker, end, middle + whisker)
