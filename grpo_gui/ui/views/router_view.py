"""The Router view: ask a query, rate the answers blind, see what was learned. It lays out and connects."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from grpo_gui.router.explanation import Explanation
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.models.router_desk import RouterDesk
from grpo_gui.ui.router_engine import RouterEngine, RouterOverview
from grpo_gui.ui.widgets.buttons import SegmentedControl
from grpo_gui.ui.widgets.empty_state import EmptyState
from grpo_gui.ui.widgets.labels import ElidedLabel, label
from grpo_gui.ui.widgets.router_answers import AnswersPanel
from grpo_gui.ui.widgets.router_choice import ChoiceCard
from grpo_gui.ui.widgets.router_history import HistoryCard
from grpo_gui.ui.widgets.router_learned import LearnedPage
from grpo_gui.ui.widgets.router_model_actions import ModelActions
from grpo_gui.ui.widgets.router_models import ModelsCard
from grpo_gui.ui.widgets.router_query import QueryCard
from grpo_gui.ui.workspace import Workspace

_READING = "Reading what the router has learned…"
_EMPTY = (
    "There is no model to route between. Begin with this program's base model and two small experts; "
    "your own snapshots and endpoints can join later."
)
_LEARNED, _HISTORY, _MODELS = "learned", "history", "models"
_SIDE_BY_SIDE = 820  # pixels; below, query and models stand on top of each other


class RouterView(QWidget):
    """Shows the router of the open database."""

    def __init__(self, workspace: Workspace, engine: RouterEngine) -> None:
        super().__init__()
        self._workspace = workspace
        self.desk = RouterDesk(engine, self)
        self._explanation: Explanation | None = None
        self.query = QueryCard()
        self.choice = ChoiceCard()
        self.answers = AnswersPanel()
        self.learned = LearnedPage(workspace)
        self.history = HistoryCard(engine)
        self.models = ModelsCard()
        self.model_actions = ModelActions(workspace, self.desk, self.models, self)
        self.tabs = SegmentedControl(
            [(_LEARNED, "Learned"), (_HISTORY, "History"), (_MODELS, "Models")], _LEARNED, "Shown"
        )
        self.notice = ElidedLabel("", "warn")
        self.empty = EmptyState(_EMPTY, "Begin with the built-in experts")
        self._lay_out()
        self._connect()

    # --- layout

    def _lay_out(self) -> None:
        self._top = QWidget()
        self._top_row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._top)
        self._top_row.setContentsMargins(0, 0, 0, 0)
        self._top_row.setSpacing(tokens.GAP)
        self._top_row.addWidget(self.query, 3)
        self._top_row.addWidget(self.choice, 7)
        lower = self._lay_out_lower()
        self._panes = QSplitter(Qt.Orientation.Vertical)
        self._panes.setObjectName("router")
        self._panes.setHandleWidth(tokens.GAP)
        self._panes.setChildrenCollapsible(False)
        for widget, stretch in ((self._top, 0), (self.answers, 1), (lower, 6)):
            self._panes.addWidget(widget)
            self._panes.setStretchFactor(self._panes.count() - 1, stretch)
        self._panes.setSizes([theme.px(226), theme.px(180), theme.px(380)])
        self.answers.hide()
        reading = label(_READING, "lead")
        reading.setAlignment(Qt.AlignmentFlag.AlignCenter)
        scroll = QScrollArea()
        scroll.setWidget(self._panes)
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._pages = QStackedWidget()
        for widget in (reading, self.empty, scroll):
            self._pages.addWidget(widget)
        box = QVBoxLayout(self)
        box.setContentsMargins(tokens.GAP, tokens.GAP, tokens.GAP, tokens.GAP)
        box.addWidget(self._pages)
        self.setMinimumSize(theme.px(420), theme.px(300))
        self.setFocusProxy(self.query.field)

    def _lay_out_lower(self) -> QWidget:
        self._below = QStackedWidget()
        for page in (self.learned, self.history, self.models):
            self._below.addWidget(page)
        bar = QHBoxLayout()
        bar.setContentsMargins(0, 0, 0, 0)
        bar.setSpacing(8)
        bar.addWidget(self.tabs)
        bar.addWidget(self.notice, 1)
        lower = QWidget()
        column = QVBoxLayout(lower)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(bar)
        column.addWidget(self._below, 1)
        return lower

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put query and models side by side where there is room."""
        super().resizeEvent(event)
        is_wide = self.width() >= theme.px(_SIDE_BY_SIDE)
        direction = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        if direction != self._top_row.direction():
            self._top_row.setDirection(direction)

    def showEvent(self, event: QShowEvent) -> None:
        """Let one type at once."""
        super().showEvent(event)
        focused = self.window().focusWidget()
        if focused is None or not self.isAncestorOf(focused):
            self.query.field.setFocus()

    def show_page(self, name: str) -> None:
        """Show what was learned, the history, or the models."""
        self.tabs.choose(name)

    # --- connections

    def _connect(self) -> None:
        desk = self.desk
        self.empty.clicked.connect(desk.begin)
        self.query.typed.connect(desk.set_query)
        self.query.asked.connect(desk.ask)
        self.query.stopped.connect(desk.stop)
        self.query.mode_chosen.connect(desk.set_mode)
        self.answers.acted.connect(self._act)
        self.learned.side.trade_off_moved.connect(desk.set_trade_off)
        self.learned.side.promote_asked.connect(desk.promote)
        self.learned.side.roll_back_asked.connect(desk.roll_back)
        self.learned.side.run_asked.connect(self._show_run)
        self.learned.side.features_asked.connect(self.model_actions.choose_features)
        self.tabs.changed.connect(self._show_tab)
        self.history.history.problem.connect(self._workspace.problem)
        desk.problem.connect(self._workspace.problem)
        desk.overview_changed.connect(self._show_overview)
        desk.explained.connect(self._show_explanation)
        desk.asking_changed.connect(self._show_asking)
        desk.board_changed.connect(self._show_board)
        desk.answer_changed.connect(self.answers.show_answer)
        desk.submitted.connect(self.query.next_query)
        desk.begin_watching()

    def _act(self, action: str, value: int) -> None:
        if action == "stop":
            self.desk.stop()
        else:
            self.desk.act(action, value)

    def _show_run(self) -> None:
        overview = self.desk.overview
        if overview is not None and overview.run_id is not None:
            self._workspace.select_run(overview.run_id)
            self._workspace.view_requested.emit("train")

    def _show_tab(self, name: str) -> None:
        self._below.setCurrentIndex([_LEARNED, _HISTORY, _MODELS].index(name))

    def _show_overview(self, overview: RouterOverview) -> None:
        was_empty = self._pages.currentIndex() != 2
        self._pages.setCurrentIndex(2 if overview.models or overview.decisions else 1)
        self.query.show_overview(overview)
        self.learned.show_overview(overview)
        self.history.show_overview(overview)
        self.models.show_overview(overview)
        self._show_choice()
        silent = [model for model in overview.models if model.state == "dead"]
        self.notice.setText(silent[0].sentence if silent and self.tabs.value != _MODELS else "")
        if was_empty and self.isVisible() and overview.models:
            self.query.field.setFocus()

    def _show_explanation(self, explanation: Explanation | None) -> None:
        self._explanation = explanation
        self.query.show_explanation(explanation)
        self._show_choice()

    def _show_choice(self) -> None:
        if self.desk.overview is not None:
            board = self.desk.board
            is_current = board is not None and board.decided.query == self.desk.query.strip()
            asked = board.decided.asked if board is not None and is_current else ()
            self.choice.show_choice(self.desk.overview, self._explanation, asked)

    def _show_asking(self) -> None:
        self.query.show_streaming(is_streaming=self.desk.is_streaming)

    def _show_board(self) -> None:
        board = self.desk.board
        if board is None:
            return
        is_new = self.answers.board is not board
        self.answers.show()
        self.answers.show_board(board)
        self.history.keep_secret(None if board.is_submitted else board.decided.decision)
        if is_new:
            self._show_choice()
            self.answers.setFocus(Qt.FocusReason.OtherFocusReason)
