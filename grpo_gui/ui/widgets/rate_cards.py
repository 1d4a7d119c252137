"""The answers of a group beside each other: as many columns as are readable; more rows than fit scroll."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QScrollArea, QWidget

from grpo_gui.ui import theme, tokens
from grpo_gui.ui.models.rating_draft import JudgeBy
from grpo_gui.ui.models.rating_session import RatingSession
from grpo_gui.ui.models.rating_words import badge
from grpo_gui.ui.widgets.rate_card import HEIGHT, LOW, RateCard

_LEAST = 240  # width of a card with a text that wraps, or with the five buttons of scores
_LEAST_SHORT = 170  # where every answer is one short line
_SHORT = 12  # characters that fit into a card of that width
_MOST = {False: 3, True: 4}  # columns, by whether all answers are short
_GAP = tokens.GAP + 4


class RateCards(QScrollArea):
    """Shows a `RatingSession`; the three signals give the card first, as its place from 0."""

    clicked = Signal(int)
    scored = Signal(int, int)
    flagged = Signal(int, str)

    def __init__(self) -> None:
        super().__init__()
        self._session: RatingSession | None = None
        self._arranged: tuple[tuple[int, ...], int] | None = None
        self._are_short = False
        self.cards: list[RateCard] = []
        page = QWidget()
        page.setProperty("look", "page")
        self._grid = QGridLayout(page)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(_GAP)
        self.setWidget(page)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(theme.px(150))

    @property
    def columns(self) -> int:
        """How many cards can stand beside each other."""
        judges_by = None if self._session is None else self._session.draft.state.judge_by
        is_dense = self._are_short and judges_by is not JudgeBy.SCORES
        fit = (self.width() + _GAP) // (theme.px(_LEAST_SHORT if is_dense else _LEAST) + _GAP)
        return max(1, min(fit, _MOST[is_dense]))

    @property
    def wanted_height(self) -> int:
        """What the group on screen needs so that no card is cut; texts longer than their card scroll in it."""
        cards = 0 if self._session is None else len(self._session.layout.slots)
        rows = -(-cards // self.columns)
        return rows * (theme.px(LOW if self._are_short else HEIGHT) + _GAP)

    def show_session(self, session: RatingSession) -> None:
        """Show another group."""
        self._session = session
        self._are_short = all(len(slot.text) <= _SHORT and "\n" not in slot.text for slot in session.layout.slots)
        while len(self.cards) < len(session.layout.slots):
            self._add_card()
        for card, slot in zip(self.cards, session.layout.slots, strict=False):
            card.show_slot(slot, is_low=self._are_short)
        self.verticalScrollBar().setValue(0)
        self.refresh()

    def refresh(self) -> None:
        """Show what was said of the answers by now."""
        session = self._session
        if session is None:
            return
        draft, state = session.draft, session.draft.state
        shown = tuple(range(draft.cards))
        if state.judge_by is JudgeBy.PAIRS and draft.pair is not None and state.verdict is None:
            shown = draft.pair if session.flagged is None and not session.flags_next else shown
        self._arrange(shown)
        scores = state.judge_by is JudgeBy.SCORES and state.verdict is None
        for place in shown:
            word = badge(draft, place)
            is_chosen = place == session.flagged or (place == state.cursor if scores else bool(word))
            self.cards[place].show_judgement(
                word, draft.tag_of(place), is_chosen=is_chosen, score=draft.score_of(place), has_scores=scores
            )
        if scores and state.cursor < len(self.cards):
            self.ensureWidgetVisible(self.cards[state.cursor], 0, 0)

    def scroll_pages(self, pages: int) -> None:
        """Scroll by pages."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + pages * bar.pageStep())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Two columns where three would be too narrow."""
        super().resizeEvent(event)
        if self._session is not None:
            self.refresh()

    def _arrange(self, shown: tuple[int, ...]) -> None:
        lines = max(1, -(-len(shown) // self.columns))
        columns = max(1, -(-len(shown) // lines))  # no more than so many lines need: four cards are two by two
        if self._session is not None:
            self._session.columns = columns
        if self._arranged == (shown, columns):
            return
        self._arranged = (shown, columns)
        for place, card in enumerate(self.cards):
            self._grid.removeWidget(card)
            card.setVisible(place in shown)
        for number, place in enumerate(shown):
            self._grid.addWidget(self.cards[place], number // columns, number % columns)
        rows = -(-len(shown) // columns)
        for row in range(max(rows, self._grid.rowCount())):
            self._grid.setRowStretch(row, 1 if row < rows else 0)
        for column in range(max(columns, self._grid.columnCount())):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def _add_card(self) -> None:
        card, place = RateCard(), len(self.cards)
        card.setParent(self.widget())  # a card without parent would be a window of its own for a moment
        card.clicked.connect(lambda: self.clicked.emit(place))
        card.scored.connect(lambda value: self.scored.emit(place, value))
        card.flagged.connect(lambda tag: self.flagged.emit(place, tag))
        self.cards.append(card)
        self._arranged = None
