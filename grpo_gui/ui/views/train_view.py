"""The Train view: run panel, plots with three cells above them, and the newest group. It lays out and connects."""

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from grpo_gui.events import RunStatus
from grpo_gui.store.records import CompletionRef, RunRecord
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.health_watch import HealthWatch
from grpo_gui.ui.models.group_focus import GroupFocus
from grpo_gui.ui.models.run_health import RunHealth
from grpo_gui.ui.models.run_model import RunModel
from grpo_gui.ui.models.shown_step import ShownStep
from grpo_gui.ui.plots.plots_panel import PlotsPanel
from grpo_gui.ui.views.diagnosis_page import DiagnosisPage
from grpo_gui.ui.views.train_findings import TrainFindings
from grpo_gui.ui.widgets.batch_map import BatchMap
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.empty_state import EmptyState
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.widgets.newest_group import NewestGroup
from grpo_gui.ui.widgets.run_panel import RunPanel
from grpo_gui.ui.widgets.side_panes import SidePanes
from grpo_gui.ui.widgets.summary_cells import SummaryCells
from grpo_gui.ui.workspace import Workspace

_NO_GROUP = "The store has no completions of this run's newest step."
_WAITING = "The plots appear with the first step."
_WORDS_MS = 250
_WIDEST_COLUMN = 640
_ENDED = "This run ended before its first step."


class TrainView(QWidget):
    """Shows the workspace's selected run, live or finished."""

    def __init__(self, workspace: Workspace, watch: HealthWatch) -> None:
        super().__init__()
        self._workspace, self.watch = workspace, watch
        self.model = RunModel(workspace)
        self.focus = GroupFocus(workspace)
        self.panel = RunPanel()
        self.cells = SummaryCells()
        self.plots = PlotsPanel()
        self.group = NewestGroup(self.focus)
        self.map = BatchMap(self.focus)
        self.findings = TrainFindings(workspace, watch, self.model, self.plots, self._can_change_selected)
        self._map_card, self._findings_card = Card("This step"), Card("Findings")
        self._hint = label(_NO_GROUP, "hint", wrap=True)
        self.empty = EmptyState("", "Start a new run")
        self._shown_status: RunStatus | None = None
        self._words_timer = QTimer(self)
        self._words_timer.setSingleShot(True)
        self._words_timer.setInterval(_WORDS_MS)
        self._words_timer.timeout.connect(self._show_words)
        self.panes = SidePanes(
            "train",
            (self.panel, self._center(), self._right()),
            ("Run", "Plots", "Newest group"),
            (tokens.RUN_PANEL_WIDTH, tokens.GROUP_PANEL_WIDTH),
        )
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.panes)
        self.plots.add_to_bar(self.panes.left_button)
        self.setFocusProxy(self.plots.cards["reward"].area)
        self._connect()
        self._open()
        self.model.open()

    # --- layout

    def _center(self) -> QWidget:
        center = QWidget()
        column = QVBoxLayout(center)
        column.setContentsMargins(0, tokens.GAP, 0, tokens.GAP)
        column.setSpacing(tokens.GAP)
        column.addWidget(self.cells)
        column.addWidget(self.plots, 1)
        self._pages = QStackedWidget()
        self._pages.addWidget(center)
        self._pages.addWidget(self.empty)
        self.diagnosis = DiagnosisPage(self._workspace, self.watch, self.plots.axis)
        self._pages.addWidget(self.diagnosis)
        return self._pages

    def _right(self) -> QScrollArea:
        self._map_card.body.addWidget(self.map)
        page = QWidget()
        page.setProperty("look", "page")
        page.setMaximumWidth(theme.px(_WIDEST_COLUMN))
        column = QVBoxLayout(page)
        column.setContentsMargins(0, tokens.GAP, 0, tokens.GAP)
        column.setSpacing(tokens.GAP)
        self._findings_card.body.addWidget(self.findings.list)
        self.all_link = link("All", tooltip="All findings, self-checks, wasted work, and what other settings would do.")
        self._findings_card.header.add_widget(self.all_link)
        for part in (self._hint, self.group, self._map_card, self._findings_card):
            column.addWidget(part)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(page)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setMinimumWidth(theme.px(280))
        return scroll

    # --- connections

    def _connect(self) -> None:
        workspace, model, focus = self._workspace, self.model, self.focus
        model.smooth_with(self.plots.smoothing)
        self.plots.smoothing_changed.connect(model.smooth_with)
        model.opened.connect(self._open)
        model.grown.connect(self._grow)
        model.changes_changed.connect(self._show_changes)
        model.notes_changed.connect(self._show_notes)
        model.step_arrived.connect(focus.offer)
        focus.changed.connect(self._focus_changed)
        focus.missing.connect(self._groups_missing)
        workspace.run_updated.connect(self._run_updated)
        workspace.handle_changed.connect(self._handle_changed)
        workspace.step_selected.connect(self.plots.show_step)
        workspace.completion_selected.connect(self._show_completion)
        self.plots.step_clicked.connect(self._show_step)
        self.panel.step_chosen.connect(self._show_step)
        self.panel.note_written.connect(self._add_note)
        self.panel.hyperparameters.asked.connect(workspace.post)
        self.map.group_chosen.connect(focus.choose)
        self.empty.clicked.connect(workspace.new_run_requested)
        workspace.finding_asked.connect(self.show_finding)
        self.watch.changed.connect(self._health_changed)
        self.cells.findings_asked.connect(self._show_findings)
        self.cells.details_asked.connect(self.show_diagnosis)
        self.all_link.clicked.connect(self.show_diagnosis)
        self.diagnosis.left.connect(self.show_plots)
        self.diagnosis.finding_asked.connect(self.show_finding)
        self.group.completion_opened.connect(self._open_among_completions)

    def _open(self) -> None:
        """Another run: everything anew."""
        self.focus.clear()
        self.plots.set_run(self.model.series, self.model.config)
        self.diagnosis.show_run(self._workspace.run, self.model.config)
        self._show_changes()
        self._show_notes()
        self.plots.refresh()
        self._show_words()

    def _grow(self) -> None:
        self.plots.refresh()
        if not self._words_timer.isActive():
            self._words_timer.start()

    def _show_words(self) -> None:
        """What changes with every step but need not be read thirty times a second."""
        self.cells.refresh(self.model.series, self.model.newest, self.watch.health)
        self._show_page()
        if self._workspace.run is not None:
            self._show_run(self._workspace.run)

    def _show_page(self) -> None:
        """The plots once there is a point, or a sentence that says why there is none."""
        run, has_points = self._workspace.run, bool(self.model.series.names)
        if self._pages.currentWidget() is not self.diagnosis or not has_points:
            self._pages.setCurrentIndex(0 if has_points or self.model.is_loading else 1)
        self.panel.setEnabled(run is not None)
        is_alive = run is not None and run.status.is_active
        self.empty.action.setVisible(not is_alive)
        if run is None:
            self.empty.sentence.setText("No run is selected.")
        else:
            self.empty.sentence.setText(_WAITING if is_alive else f"{_ENDED} {run.message}".strip())

    def _show_run(self, run: RunRecord) -> None:
        self._shown_status = run.status
        self.panel.show_run(run, self.model.config, can_change=self._can_change(run))

    def _run_updated(self, run: RunRecord) -> None:
        if run.status is not self._shown_status:
            self._show_words()
        elif not self._words_timer.isActive():
            self._words_timer.start()

    def _handle_changed(self) -> None:
        if self._workspace.run is not None:
            self._show_run(self._workspace.run)

    def _can_change(self, run: RunRecord) -> bool:
        """True while a command would reach the trainer of this very run."""
        return self._workspace.is_selected_trained_here or (
            run.status.is_active and not self._workspace.is_training and self._workspace.can_post
        )

    def _show_changes(self) -> None:
        self.panel.show_changes(self.model.config, self.model.series.changes)

    def _show_notes(self) -> None:
        self.panel.show_notes(self.model.notes)

    def _add_note(self, text: str) -> None:
        held = self.focus.step.step if self.focus.held and self.focus.step is not None else None
        self._workspace.add_note(self.model.series.newest_step if held is None else held, text)

    # --- findings

    def show_diagnosis(self) -> None:
        """Show all that is known of the run's health in the place of the plots."""
        self._pages.setCurrentWidget(self.diagnosis)

    def show_plots(self) -> None:
        """Leave the page of the diagnosis."""
        self._pages.setCurrentIndex(0)
        self._show_page()

    def show_finding(self, detector: str) -> None:
        """Open the card of a finding over the lower plots."""
        self.show_plots()
        self.findings.open(detector)

    def _health_changed(self, health: RunHealth) -> None:
        self._findings_card.setVisible(bool(health.rows))
        count_open = len(health.open)
        self._findings_card.header.set_hint(f"{count_open} open" if count_open else "none open")
        self.cells.refresh(self.model.series, self.model.newest, health)

    def _show_findings(self) -> None:
        if not self.findings.open_first():
            self.show_diagnosis()

    def _can_change_selected(self) -> bool:
        run = self._workspace.run
        return run is not None and self._can_change(run)

    # --- groups

    def _focus_changed(self) -> None:
        step: ShownStep | None = self.focus.step
        self.group.setVisible(step is not None)
        self._map_card.setVisible(step is not None)
        self._hint.setVisible(step is None and bool(self.model.series.names))
        if step is not None:
            newest = self.model.newest is not None and step.step == self.model.newest.step
            self._map_card.header.title.setText("This step" if newest else f"Step {step.step}")
            self._map_card.header.set_hint(f"{len(step.groups)} prompts, shade is reward")
        self.plots.show_step(step.step if self.focus.held and step is not None else None)

    def _show_step(self, step: int) -> None:
        self.focus.show_step(step)
        self.panes.show_right()

    def _show_completion(self, ref: CompletionRef) -> None:
        if self._workspace.run is not None and ref.group.run_id == self._workspace.run.id:
            self.focus.show_step(ref.group.step, ref.group.index, ref.index)

    def _groups_missing(self, step: int) -> None:
        self.plots.show_step(step)

    def _open_among_completions(self, ref: CompletionRef) -> None:
        self._workspace.view_requested.emit("completions")  # made at its first use, it listens from then on
        self._workspace.completion_selected.emit(ref)
