"""What the Router view does: asks and explains queries, keeps the answers at hand, submits their ratings."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from grpo_gui.router.rewards import TradeOff
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.models.answer_board import AnswerBoard
from grpo_gui.ui.router_engine import DEAD, AnswerState, Asked, NewModel, RouterEngine, RouterOverview

_EXPLAIN_AFTER_MS = 150  # of stillness in the query field
_WEIGH_AFTER_MS = 120  # of stillness of a slider


class RouterDesk(QObject):
    """Between the engine and the widgets; everything happens on the GUI thread."""

    overview_changed = Signal(object)  # RouterOverview
    explained = Signal(object)  # Explanation | None
    asking_changed = Signal()
    board_changed = Signal()  # another decision, or something a person did
    answer_changed = Signal(int)  # the place of an answer that went on
    submitted = Signal()  # the ratings are learned from
    problem = Signal(str, str)  # a sentence, and a traceback or ""

    def __init__(self, engine: RouterEngine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self.overview: RouterOverview | None = None
        self.board: AnswerBoard | None = None
        self.query = ""
        self.is_waiting = False  # asked, and not yet decided
        self._cancel: Callable[[], None] | None = None
        self._asks = 0
        self._trade_off = TradeOff()
        self._explaining, self._weighing = _timer(self, _EXPLAIN_AFTER_MS), _timer(self, _WEIGH_AFTER_MS)
        self._explaining.timeout.connect(self._explain)
        self._weighing.timeout.connect(lambda: self._engine.set_trade_off(self._trade_off, self._fail))

    def begin_watching(self) -> None:
        """Take overviews from now on; call it once the signals are connected."""
        self._engine.watch(self._take_overview)

    @property
    def is_streaming(self) -> bool:
        """True while answers are under way."""
        return self.is_waiting or (self.board is not None and not self.board.is_complete)

    # --- the query

    def set_query(self, query: str) -> None:
        """Another query is typed: explain it when the typing rests."""
        if query != self.query:
            self.query = query
            self._explaining.start()

    def ask(self) -> None:
        """Ask the query; ignored while answers are under way or without a query."""
        if not self.query.strip() or self.is_streaming:
            return
        self._explaining.stop()
        self._asks += 1
        self.is_waiting = True
        number = self._asks
        self._cancel = self._engine.ask(
            self.query.strip(), partial(self._take_asked, number), self._take_answer, partial(self._not_asked, number)
        )
        self.asking_changed.emit()

    def stop(self) -> None:
        """Cancel the answers that are under way."""
        if self._cancel is not None and self.is_streaming:
            self._cancel()

    def _explain(self) -> None:
        models = () if self.overview is None else self.overview.models
        if self.query.strip() and any(model.state != DEAD for model in models):
            self._engine.explain(self.query.strip(), self.explained.emit, self._not_explained)
        else:
            self.explained.emit(None)

    def _take_asked(self, number: int, asked: Asked) -> None:
        if number != self._asks:
            return
        self.is_waiting = False
        self.board = AnswerBoard(asked.decided)
        self.explained.emit(asked.explanation)
        self.board_changed.emit()
        self.asking_changed.emit()

    def _take_answer(self, state: AnswerState) -> None:
        if self.board is None:
            return
        was_complete, current = self.board.is_complete, self.board.current
        place = self.board.take(state)
        if place is None:
            return
        self.answer_changed.emit(place)
        if self.board.is_complete != was_complete or self.board.current != current:
            self.board_changed.emit()
            self.asking_changed.emit()

    def _not_asked(self, number: int, failure: TaskFailure) -> None:
        if number == self._asks:
            self.is_waiting = False
            self.asking_changed.emit()
        self._fail(failure)

    def _not_explained(self, failure: TaskFailure) -> None:
        self.explained.emit(None)
        self._fail(failure)

    # --- the ratings

    def act(self, action: str, value: int = 0) -> None:
        """Do what a key or a click means: rate, choose or move (by `value`), skip, undo, submit."""
        board = self.board
        if board is None:
            return
        match action:
            case "rate":
                board.rate(value)
            case "choose":
                board.choose(value)
            case "move":
                board.move(value)
            case "skip":
                board.skip()
            case "undo":
                board.undo()
            case _:
                self._submit(board)
                return
        self.board_changed.emit()

    def _submit(self, board: AnswerBoard) -> None:
        if board.against_submitting():
            return
        board.submit()
        self.board_changed.emit()
        stars = board.stars()
        if stars:
            self._engine.rate(board.decided.decision, stars, self.submitted.emit, partial(self._not_rated, board))
        else:
            self.submitted.emit()

    def _not_rated(self, board: AnswerBoard, failure: TaskFailure) -> None:
        board.reopen()
        self.board_changed.emit()
        self._fail(failure)

    # --- the router

    def set_trade_off(self, trade_off: TradeOff) -> None:
        """Weigh cost and time from now on, once the slider rests."""
        self._trade_off = trade_off
        self._weighing.start()

    def set_mode(self, mode: str) -> None:
        """Switch between locked, shadow and learn."""
        self._engine.set_mode(mode, self._fail)

    def promote(self) -> None:
        """Let the candidate decide."""
        self._engine.promote(self._fail)

    def roll_back(self) -> None:
        """Let the policy before decide again."""
        self._engine.roll_back(self._fail)

    def set_features(self, features: str) -> None:
        """Let a new candidate begin that sees queries so."""
        self._engine.set_features(features, self._fail)

    def begin(self) -> None:
        """Begin with the base model and the shipped experts."""
        self._engine.begin(self._fail)

    def add_model(self, model: NewModel) -> None:
        """Add a model."""
        self._engine.add_model(model, _nothing, self._fail)

    def remove_model(self, name: str) -> None:
        """Do not ask a model any more."""
        self._engine.remove_model(name, self._fail)

    def rename_model(self, old: str, new: str) -> None:
        """Give a model another name."""
        self._engine.rename_model(old, new, self._fail)

    def retry_model(self, name: str) -> None:
        """Try a dead model again."""
        self._engine.retry_model(name)

    def _take_overview(self, overview: RouterOverview) -> None:
        self.overview = overview
        if not self._weighing.isActive():
            self._trade_off = overview.trade_off
        self.overview_changed.emit(overview)
        if self.query.strip() and not self._explaining.isActive():
            self._explain()

    def _fail(self, failure: TaskFailure) -> None:
        self.problem.emit(failure.message, failure.traceback)


def _timer(owner: QObject, interval_ms: int) -> QTimer:
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(interval_ms)
    return timer


def _nothing() -> None:
    """What follows an order whose result comes as an overview."""
