"""The answers side by side, with the keys that rate them."""

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from grpo_gui.ui import theme, tokens
from grpo_gui.ui.models.answer_board import STARS, AnswerBoard
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.key_cap import KeyCap
from grpo_gui.ui.widgets.labels import ElidedLabel, label
from grpo_gui.ui.widgets.router_answer_card import LEAST_HEIGHT, LEAST_WIDTH, AnswerCard

_MOST_COLUMNS = 4
_KEYS: dict[Qt.Key, tuple[str, int]] = {
    Qt.Key.Key_Left: ("move", -1),
    Qt.Key.Key_Up: ("move", -1),
    Qt.Key.Key_Right: ("move", 1),
    Qt.Key.Key_Down: ("move", 1),
    Qt.Key.Key_Space: ("skip", 0),
    Qt.Key.Key_Backspace: ("undo", 0),
    Qt.Key.Key_Return: ("submit", 0),
    Qt.Key.Key_Enter: ("submit", 0),
    Qt.Key.Key_Escape: ("stop", 0),
    **{Qt.Key(Qt.Key.Key_0 + stars): ("rate", stars) for stars in STARS},
}
_STRIP = (("1-5", "rate"), ("Tab", "next"), ("Space", "skip"), ("Backspace", "undo"))


class AnswersPanel(QWidget):
    """Has the keyboard while it has the focus; `acted` names what a key or a click means, with a value."""

    acted = Signal(str, int)

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Answers")
        self.board: AnswerBoard | None = None
        self.cards: list[AnswerCard] = []
        self.hint = ElidedLabel("", "label")
        self.submit = button("Submit", tooltip="Learn from the ratings and show the names (Enter).")
        self.submit.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.submit.clicked.connect(lambda: self.acted.emit("submit", 0))
        self._keys = QWidget()
        self._page = QWidget()
        self._grid = QGridLayout(self._page)
        self._scroll = QScrollArea()
        self._columns = 0
        self._lay_out()

    def show_board(self, board: AnswerBoard) -> None:
        """Show the answers of a decision, or what a person did with them."""
        self.board = board
        while len(self.cards) < len(board.answers):
            self._add_card()
        for place, card in enumerate(self.cards):
            card.setVisible(place < len(board.answers))
        for place in range(len(board.answers)):
            self.show_answer(place)
        self.hint.setText(board.hint())
        obstacle = board.against_submitting()
        self.submit.setEnabled(not obstacle)
        self.submit.setToolTip(obstacle or "Learn from the ratings and show the names (Enter).")
        self._arrange()
        self.setAccessibleDescription(f"{self.cards[board.current].accessibleName()}. {board.hint()}")
        QTimer.singleShot(0, self, self._show_current)  # once the cards have their places

    def show_answer(self, place: int) -> None:
        """Show how far one answer is."""
        if self.board is not None:
            board = self.board
            self.cards[place].show_answer(
                board.answers[place], is_current=place == board.current, is_submitted=board.is_submitted
            )

    def event(self, event: QEvent) -> bool:
        """Keep the keys from the window's shortcuts: the space bar skips here and does not pause the training."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            event.setAccepted(self._action(event) is not None)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Rate, move, skip, undo, submit or stop."""
        action = self._action(event)
        if action is None:
            super().keyPressEvent(event)
        else:
            self.acted.emit(*action)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes from answer to answer, and leaves after the last one."""
        board = self.board
        if board is not None and not board.is_submitted:
            places = [place for place, answer in enumerate(board.answers) if answer.can_be_rated]
            ahead = [p for p in places if p > board.current] if forward else [p for p in places if p < board.current]
            if ahead:
                self.acted.emit("choose", ahead[0] if forward else ahead[-1])
                return True
        return super().focusNextPrevChild(forward)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or fewer cards in a row."""
        super().resizeEvent(event)
        self._keys.setVisible(self.width() >= theme.px(680))
        self._arrange()

    def _action(self, event: QKeyEvent) -> tuple[str, int] | None:
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier or self.board is None:
            return None
        return _KEYS.get(Qt.Key(event.key()))

    def _add_card(self) -> None:
        place, card = len(self.cards), AnswerCard()
        card.rated.connect(lambda stars: self._rate(place, stars))
        card.chosen.connect(lambda: self._act("choose", place))
        self.cards.append(card)
        self._columns = 0

    def _rate(self, place: int, stars: int) -> None:
        self._act("choose", place)
        self._act("rate", stars)

    def _act(self, action: str, value: int) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.acted.emit(action, value)

    def _show_current(self) -> None:
        if self.board is not None:
            self._scroll.ensureWidgetVisible(self.cards[self.board.current], 0, 0)

    def _arrange(self) -> None:
        shown = len(self.board.answers) if self.board is not None else 0
        room = max(1, self.width() // theme.px(LEAST_WIDTH + tokens.GAP))
        columns = max(1, min(_MOST_COLUMNS, room, shown))
        if columns == self._columns:
            return
        self._columns = columns
        for column in range(_MOST_COLUMNS):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        for place, card in enumerate(self.cards):
            self._grid.addWidget(card, place // columns, place % columns)

    def _lay_out(self) -> None:
        strip = QHBoxLayout(self._keys)
        strip.setContentsMargins(0, 0, 0, 0)
        strip.setSpacing(4)
        for key, meaning in _STRIP:
            strip.addWidget(KeyCap(key), 0, Qt.AlignmentFlag.AlignVCenter)
            strip.addWidget(label(meaning, "label"))
            strip.addSpacing(4)
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(8)
        head.addWidget(label("Answers", "title"))
        head.addWidget(self.hint, 1)
        head.addWidget(self._keys)
        head.addWidget(self.submit)
        head.addWidget(KeyCap("Enter"), 0, Qt.AlignmentFlag.AlignVCenter)
        self._page.setProperty("look", "page")
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(tokens.GAP)
        self._scroll.setWidget(self._page)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self._scroll, 1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(theme.px(LEAST_HEIGHT + 36))
