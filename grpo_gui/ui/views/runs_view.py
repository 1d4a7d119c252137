"""The Runs view: all runs of the database, any number of them laid over each other. It lays out and connects."""

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from grpo_gui.store.records import RunRecord
from grpo_gui.store.records_runs import SharedPrompt
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.models.run_overlay import RunOverlay
from grpo_gui.ui.models.runs_comparison import RunsComparison
from grpo_gui.ui.models.runs_difference import settings_of
from grpo_gui.ui.models.runs_reading import read_rows
from grpo_gui.ui.models.runs_row import RunRow
from grpo_gui.ui.models.same_prompt import Answers
from grpo_gui.ui.plots.overlay_panel import OverlayPanel
from grpo_gui.ui.widgets.buttons import SegmentedControl
from grpo_gui.ui.widgets.empty_state import EmptyState
from grpo_gui.ui.widgets.runs_actions import RunsActions
from grpo_gui.ui.widgets.runs_card import RunsCard
from grpo_gui.ui.widgets.runs_exports import RunsExports
from grpo_gui.ui.widgets.runs_side import RunsSide
from grpo_gui.ui.workspace import Workspace

_SIDE_FROM = 1000  # pixels; below, plots and settings take turns
_PLOTS, _SIDE = "plots", "side"
_WORDS_MS = 500


class RunsView(QWidget):
    """Lists the runs of the workspace's database."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._rows: dict[int, RunRow] = {}
        self._has_rows = False
        self.overlay = RunOverlay(workspace)
        self.overlay.setParent(self)
        self.comparison = RunsComparison(workspace, self.overlay)
        self.comparison.setParent(self)
        self.card = RunsCard()
        self.plots = OverlayPanel(self.overlay)
        self.side = RunsSide()
        self.actions_ = RunsActions(workspace, self.card.strip, self)
        self.exports = RunsExports(
            workspace,
            self.card.strip,
            self.plots.page,
            lambda: [overlaid.run for overlaid in self.overlay.runs],
            lambda: [row.run for row in self.card.table.selected],
        )
        self.tabs = SegmentedControl([(_PLOTS, "Curves"), (_SIDE, "Settings and answers")], _PLOTS, "Shown")
        self.empty = EmptyState("There are no runs yet.", "Set up a run")
        self._words = QTimer(self)
        self._words.setInterval(_WORDS_MS)
        self._words.timeout.connect(self._show_definitions)
        self._lay_out()
        self._connect()

    # --- layout

    def _lay_out(self) -> None:
        lower = QWidget()
        self._lower = QSplitter(Qt.Orientation.Horizontal)
        self._lower.setObjectName("runs-lower")
        self._lower.setHandleWidth(tokens.GAP)
        self._lower.setChildrenCollapsible(False)
        self._lower.addWidget(self.plots)
        self._lower.addWidget(self.side)
        self._lower.setStretchFactor(0, 1)
        self._lower.setSizes([theme.px(860), theme.px(400)])
        self._bar = QWidget()
        bar = QHBoxLayout(self._bar)
        bar.setContentsMargins(0, 0, 0, 0)
        bar.addWidget(self.tabs)
        bar.addStretch(1)
        column = QVBoxLayout(lower)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(tokens.GAP)
        column.addWidget(self._bar)
        column.addWidget(self._lower, 1)
        self._panes = QSplitter(Qt.Orientation.Vertical)
        self._panes.setObjectName("runs")
        self._panes.setHandleWidth(tokens.GAP)
        self._panes.setChildrenCollapsible(False)
        self._panes.addWidget(self.card)
        self._panes.addWidget(lower)
        self._panes.setStretchFactor(1, 1)
        self._panes.setSizes([theme.px(280), theme.px(460)])
        self.card.setMinimumHeight(theme.px(150))
        self._pages = QStackedWidget()
        self._pages.addWidget(self._panes)
        self._pages.addWidget(self.empty)
        box = QVBoxLayout(self)
        box.setContentsMargins(tokens.GAP, tokens.GAP, tokens.GAP, tokens.GAP)
        box.addWidget(self._pages)
        self.setMinimumSize(theme.px(420), theme.px(300))
        self.setFocusProxy(self.card.table)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show plots and settings side by side, or one of them."""
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        """Read while it can be seen."""
        super().showEvent(event)
        self._words.start()
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        """Rest while it cannot be seen."""
        super().hideEvent(event)
        self._words.stop()

    def _arrange(self) -> None:
        is_wide = self.width() >= theme.px(_SIDE_FROM)
        self._bar.setVisible(not is_wide)
        self.plots.setVisible(is_wide or self.tabs.value == _PLOTS)
        self.side.setVisible(is_wide or self.tabs.value == _SIDE)

    # --- connections

    def _connect(self) -> None:
        workspace = self._workspace
        self.tabs.changed.connect(self._arrange)
        self.empty.clicked.connect(workspace.new_run_requested)
        workspace.runs_changed.connect(self._runs_changed)
        workspace.closing.connect(self.card.strip.cancel)
        self.card.filter_changed.connect(self._show_rows)
        self.card.asked.connect(lambda name: self.actions_.do(name, self.card.table.selected))
        self.card.table.overlay_toggled.connect(self.toggle)
        self.actions_.changed.connect(self.refresh)
        self.overlay.runs_changed.connect(self._overlay_changed)
        self.plots.export_menu.aboutToShow.connect(lambda: self.exports.fill(self.plots.export_menu))
        self.plots.step_clicked.connect(self.comparison.ask_near)
        self.comparison.changed.connect(self._show_beside)
        self.comparison.answered.connect(self._show_answers)
        self.comparison.prompt_offered.connect(self.side.answers.choose)
        self.side.answers.prompt_chosen.connect(self.comparison.ask)
        self.side.finding_opened.connect(self._open_run)
        QShortcut(
            QKeySequence("/"), self, self.card.focus_search, context=Qt.ShortcutContext.WidgetWithChildrenShortcut
        )

    # --- rows

    def refresh(self) -> None:
        """Read the list again."""
        known = dict(self._rows)
        self._workspace.read(lambda reader: read_rows(reader, known), self._take_rows, key="runs.rows")

    def toggle(self, rows: list[RunRow]) -> None:
        """Lay runs over the others, or take them away; of several at once all get what the first one gets."""
        if not rows:
            return
        slots = self.overlay.slots
        add = rows[0].id not in slots
        changed = {row.id for row in rows if (row.id not in slots) == add}
        kept = [overlaid.run for overlaid in self.overlay.runs if add or overlaid.run.id not in changed]
        more = [row.run for row in reversed(rows) if add and row.id in changed] if len(rows) > 1 else []
        more = more or [row.run for row in rows if add and row.id in changed]
        self.overlay.choose([*kept, *more])

    def _runs_changed(self, _: list[RunRecord]) -> None:
        if self.isVisible():
            self.refresh()

    def _take_rows(self, rows: list[RunRow]) -> None:
        is_first, self._has_rows = not self._has_rows, True
        self._rows = {row.id: row for row in rows}
        self.overlay.update([row.run for row in rows])
        selected = self._workspace.run
        if is_first and not self.overlay.runs and selected is not None and selected.id in self._rows:
            self.overlay.choose([self._rows[selected.id].run])
        self._pages.setCurrentIndex(0 if rows else 1)
        self._show_rows()

    def _show_rows(self) -> None:
        slots = self.overlay.slots
        rows = [_with_slot(row, slots.get(row.id)) for row in self._rows.values()]
        self.card.show_rows([row for row in rows if self.card.filter.finds(row)], rows, len(slots))

    def _overlay_changed(self) -> None:
        self._show_rows()
        self._show_settings()

    # --- beside the curves

    def _show_beside(self) -> None:
        beside = self.comparison.beside
        self._show_settings()
        answers = self.side.answers
        answers.show_prompts(beside.prompts, len(beside.run_ids))
        chosen: SharedPrompt | None = answers.prompts.currentData()
        if chosen is not None:
            self.comparison.ask(chosen)
        self.side.show_findings(self.overlay.runs, beside.findings)

    def _show_settings(self) -> None:
        changes = self.comparison.beside.changes
        runs = [(overlaid.run, changes.get(overlaid.run.id, ())) for overlaid in self.overlay.runs]
        self.side.difference.show_settings([overlaid.title for overlaid in self.overlay.runs], settings_of(runs))

    def _show_answers(self, answers: list[Answers]) -> None:
        self.side.answers.show_answers(answers, self.overlay.runs)

    def _show_definitions(self) -> None:
        self.side.show_definitions({card.title: card.definitions() for card in self.plots.cards.values()})

    def _open_run(self, run_id: int, _: str) -> None:
        self._workspace.select_run(run_id)
        self._workspace.view_requested.emit("train")


def _with_slot(row: RunRow, slot: int | None) -> RunRow:
    return row if row.slot == slot else RunRow(row.run, row.notes, row.spark, row.steps_planned, slot)
