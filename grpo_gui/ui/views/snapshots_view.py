"""The Snapshots view: what a run left behind, how good it is, and which of two is better. It lays out and connects."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from grpo_gui.snapshots.judging import Answer
from grpo_gui.store.records import RunRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.models.pair_comparison import PairComparison
from grpo_gui.ui.models.snapshot_row import FileState, SnapshotRow
from grpo_gui.ui.models.snapshot_shelf import SnapshotShelf
from grpo_gui.ui.plots.snapshot_marks import Mark
from grpo_gui.ui.run_text import run_title
from grpo_gui.ui.snapshot_engine import Question, SnapshotEngine
from grpo_gui.ui.widgets.buttons import SegmentedControl
from grpo_gui.ui.widgets.compare_panel import ComparePanel
from grpo_gui.ui.widgets.empty_state import EmptyState
from grpo_gui.ui.widgets.playground_card import PlaygroundCard
from grpo_gui.ui.widgets.snapshot_actions import SnapshotActions
from grpo_gui.ui.widgets.snapshot_curve import SnapshotCurve
from grpo_gui.ui.widgets.snapshot_list_card import SnapshotListCard
from grpo_gui.ui.workspace import Workspace

_SIDE_BY_SIDE = 1000  # pixels; below, list and comparison take turns
_LEFT, _RIGHT = "list", "compare"
_NO_RUN = "No run is selected, so there are no snapshots."
_OTHERS = "Another program trained this run; its checkpoints lie in the run's own folder."
_WITHOUT = {  # by origin: runs that never have any here
    "imported": _OTHERS,
    "followed": _OTHERS,
    "router": "The router keeps its network in the database and has no snapshots.",
}


class SnapshotsView(QWidget):
    """Shows the snapshots of the workspace's selected run."""

    def __init__(self, workspace: Workspace, engine: SnapshotEngine) -> None:
        super().__init__()
        self._workspace, self._engine = workspace, engine
        self._run_id = 0
        self._chosen: int | None = None  # snapshot ids; None is the base model
        self._marks: dict[str, int | None] = {}
        self._asked = 0
        self.shelf = SnapshotShelf(workspace)
        self.comparison = PairComparison(workspace, engine)
        self.doing = SnapshotActions(workspace, self.shelf, engine, self)
        self.list = SnapshotListCard(self.doing)
        self.curve = SnapshotCurve(workspace)
        self.playground = PlaygroundCard()
        self.compare = ComparePanel(self.comparison)
        self.tabs = SegmentedControl([(_LEFT, "Snapshots"), (_RIGHT, "Compare")], _LEFT, "Shown")
        self.empty = EmptyState(_NO_RUN, "Set up a run")
        self._lay_out()
        self._connect()
        self._select(workspace.run)

    # --- layout

    def _lay_out(self) -> None:
        left = QSplitter(Qt.Orientation.Vertical)
        left.setObjectName("snapshots-left")
        left.setHandleWidth(tokens.GAP)
        left.setChildrenCollapsible(False)
        for widget, share in ((self.list, 5), (self.curve, 5), (self.playground, 2)):
            left.addWidget(widget)
            left.setStretchFactor(left.count() - 1, share)
        left.setSizes([theme.px(360), theme.px(300), theme.px(112)])
        self._left = left
        self._panes = QSplitter(Qt.Orientation.Horizontal)
        self._panes.setObjectName("snapshots")
        self._panes.setHandleWidth(tokens.GAP)
        self._panes.setChildrenCollapsible(False)
        self._panes.addWidget(left)
        self._panes.addWidget(self.compare)
        self._panes.setStretchFactor(0, 3)
        self._panes.setStretchFactor(1, 2)
        self._panes.setSizes([theme.px(760), theme.px(560)])
        self._bar = QWidget()
        bar = QHBoxLayout(self._bar)
        bar.setContentsMargins(0, 0, 0, 0)
        bar.addWidget(self.tabs)
        bar.addStretch(1)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(tokens.GAP)
        column.addWidget(self._bar)
        column.addWidget(self._panes, 1)
        self._pages = QStackedWidget()
        self._pages.addWidget(page)
        self._pages.addWidget(self.empty)
        box = QVBoxLayout(self)
        box.setContentsMargins(tokens.GAP, tokens.GAP, tokens.GAP, tokens.GAP)
        box.addWidget(self._pages)
        self.setMinimumSize(theme.px(420), theme.px(300))
        self.setFocusProxy(self.list.table)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show list and comparison side by side, or one of them."""
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        """Read while it can be seen."""
        super().showEvent(event)
        self.shelf.set_shown(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Rest while it cannot be seen."""
        super().hideEvent(event)
        self.shelf.set_shown(False)

    def _arrange(self) -> None:
        is_wide = self.width() >= theme.px(_SIDE_BY_SIDE)
        self._bar.setVisible(not is_wide)
        self._left.setVisible(is_wide or self.tabs.value == _LEFT)
        self.compare.setVisible(is_wide or self.tabs.value == _RIGHT)

    # --- connections

    def _connect(self) -> None:
        workspace = self._workspace
        self.tabs.changed.connect(self._arrange)
        self.shelf.changed.connect(self._show_rows)
        self.shelf.checked.connect(self._show_checked)
        self.list.table.chosen.connect(self._row_chosen)
        self.list.table.marked.connect(self._mark)
        self.list.superseded.clicked.connect(lambda: self.shelf.show_superseded(not self.shelf.shows_superseded))
        self.curve.step_chosen.connect(self._choose_step)
        self.compare.pair_chosen.connect(self._pair_chosen)
        self.compare.program.prompts.activated.connect(self._compare_again)
        self.playground.asked.connect(self._ask)
        self.empty.clicked.connect(workspace.new_run_requested)
        workspace.run_selected.connect(self._select)
        workspace.run_updated.connect(self._run_updated)
        workspace.handle_changed.connect(self._show_row)
        workspace.torch_ready.connect(self._torch_ready)

    def _select(self, run: RunRecord | None) -> None:
        why_none = _NO_RUN if run is None else _WITHOUT.get(run.origin, "")
        self.empty.sentence.setText(why_none)
        self._pages.setCurrentIndex(1 if why_none else 0)
        if run is not None and run.id != self._run_id:
            self._run_id = run.id
            self._chosen, self._marks = None, {}
            self.comparison.set_run(run.id, self._workspace.selected_config() or TrainConfig())
        self._arrange()

    def _run_updated(self, run: RunRecord) -> None:
        if not run.status.is_active:
            self._show_row()

    def _torch_ready(self, _: str) -> None:
        self.compare.refresh()
        self._show_row()

    # --- rows

    def _show_rows(self) -> None:
        rows, run = self.shelf.rows, self._workspace.run
        ids = [row.snapshot_id for row in rows]
        if rows and self._marks.get("A") is None and self._marks.get("B") is None:
            self._marks = {"A": ids[0], "B": None}  # the newest with the base model
            self._chosen = ids[0]
        self._marks = {name: chosen for name, chosen in self._marks.items() if chosen in ids}
        self.list.show_shelf(self.shelf.shelf, run_title(run) if run is not None else "")
        table = self.list.table
        table.blockSignals(True)  # the cursor stays on its snapshot
        table.snapshots.set_rows(rows)
        table.choose(max(table.snapshots.place_of(self._chosen), 0))
        table.blockSignals(False)
        self._show_marks()
        self._show_row()

    def _show_checked(self, place: int) -> None:
        self.list.table.snapshots.update_row(place, self.shelf.rows)
        self._show_row()
        self._compare_again()

    def _row_chosen(self, row: SnapshotRow | None) -> None:
        if row is not None:
            self._chosen = row.snapshot_id
            self._show_marks()
            self._show_row()

    def _show_row(self) -> None:
        row = self.list.table.current_row
        self.list.show_row(row)
        damaged = row is not None and row.files in (FileState.DAMAGED, FileState.MISSING)
        reason = "" if self._workspace.torch_version else "torch is still warming up."
        reason = row.problem if row is not None and damaged else reason
        self.playground.show_model(row.title if row is not None else "", row is not None and not reason, reason)

    def _choose_step(self, step: int) -> None:
        place = next((place for place, row in enumerate(self.shelf.rows) if row.step == step and not row.is_base), -1)
        if place >= 0:
            self.list.table.choose(place)

    # --- A and B

    def _mark(self, name: str) -> None:
        row = self.list.table.current_row
        if row is not None:
            self._marks[name] = row.snapshot_id
            self._show_marks()

    def _pair_chosen(self, first: int | None, second: int | None) -> None:
        self._marks = {"A": first, "B": second}
        self._show_marks()

    def _show_marks(self) -> None:
        names: dict[int | None, str] = {}
        for name, chosen in sorted(self._marks.items()):
            names[chosen] = names.get(chosen, "") + name
        self.list.table.snapshots.set_marks(names)
        marks = [Mark(row.step, names.get(row.snapshot_id, "")) for row in self.shelf.rows if not row.is_base]
        current = self.list.table.current_row
        self.curve.set_marks(marks, None if current is None or current.is_base else current.step)
        self.compare.set_rows(self.shelf.rows, *(self._marks.get(name, -1) for name in ("A", "B")))
        self._compare_again()

    def _compare_again(self) -> None:
        by_id = {row.snapshot_id: row for row in self.shelf.rows}
        pair = [by_id[self._marks[name]] for name in ("A", "B") if self._marks.get(name, -1) in by_id]
        prompts = self.compare.program.prompt_count
        self.comparison.set_pair((pair[0], pair[1]) if len(pair) == 2 else None, prompts)

    # --- playground

    def _ask(self, prompt: str, temperature: float) -> None:
        row, config = self.list.table.current_row, self._workspace.selected_config() or TrainConfig()
        if row is None:
            return
        self._asked += 1
        self.playground.show_waiting()
        question = Question(row.model, prompt, temperature, config.max_completion_length, self._asked, config.device)
        self._engine.ask(question, partial(self._answered, row.title, prompt), self._not_answered)

    def _answered(self, title: str, prompt: str, answer: Answer) -> None:
        self.playground.show_answer(title, prompt, answer)

    def _not_answered(self, failure: TaskFailure) -> None:
        self.playground.show_failure(failure.message)
