"""All that is known of a run's health, on a page in the place of its plots."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from grpo_gui.store.records import CompletionQuery, RunRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.health_watch import HealthWatch
from grpo_gui.ui.models.run_health import RunDetails, RunHealth
from grpo_gui.ui.plots.shared_axis import SharedAxis
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.checks_card import ChecksCard
from grpo_gui.ui.widgets.findings_list import FindingsList
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.widgets.learning_card import LearningCard
from grpo_gui.ui.widgets.waste_card import WasteCard
from grpo_gui.ui.widgets.what_if_card import WhatIfCard
from grpo_gui.ui.workspace import Workspace

_TWO_COLUMNS = 900  # pixels of width from which on the cards stand side by side


class DiagnosisPage(QWidget):
    """`left` when the user wants the plots back, `finding_asked` for the card of a finding."""

    left = Signal()
    finding_asked = Signal(str)

    def __init__(self, workspace: Workspace, watch: HealthWatch, axis: SharedAxis) -> None:
        super().__init__()
        self._workspace, self._watch = workspace, watch
        self.back = button("Plots", "back", tooltip="Back to the plots (Esc).")
        self.findings = FindingsList()
        self.findings_card = Card("Findings")
        self.learning, self.waste, self.checks = LearningCard(), WasteCard(), ChecksCard()
        self.what_if = WhatIfCard(workspace, axis)
        self.missing_card = Card("Not judged")
        self._missing = label("", "label", wrap=True)
        self._is_narrow: bool | None = None
        self._lay_out()
        self.back.clicked.connect(self.left)
        self.findings.opened.connect(self.finding_asked)
        self.learning.prompt_asked.connect(self._show_prompt)
        watch.changed.connect(self._take)
        watch.details_changed.connect(self._take_details)
        escape = QShortcut(QKeySequence("Escape"), self)
        escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        escape.activated.connect(self.left)

    def show_run(self, run: RunRecord | None, config: TrainConfig | None) -> None:
        """Another run was selected."""
        self.setEnabled(run is not None)
        self.what_if.show_run(config)

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for the details while they can be seen."""
        super().showEvent(event)
        self._watch.want_details(True)
        self._take(self._watch.health)
        self.back.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        """They cost some milliseconds a look."""
        super().hideEvent(event)
        self._watch.want_details(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """One or two columns."""
        super().resizeEvent(event)
        self._arrange()

    def _take(self, health: RunHealth) -> None:
        if self.isVisible():
            self.findings.show_health(health)
            count_open = len(health.open)
            self.findings_card.header.set_hint(f"{count_open} open" if count_open else "none open")

    def _take_details(self, details: RunDetails) -> None:
        self.learning.show_learning(details.progress, details.never_solved, details.always_solved)
        self.waste.show_meter(details.meter)
        self.checks.show_checks(details.checks)
        self.missing_card.setVisible(bool(details.missing))
        lines = (f"{reason[0].upper()}{reason[1:]}: {', '.join(names)}." for reason, names in details.missing)
        self._missing.setText("\n".join(lines))

    def _show_prompt(self, prompt: str) -> None:
        if self._workspace.run is not None:
            self._workspace.view_requested.emit("completions")
            self._workspace.completions_asked.emit(CompletionQuery(self._workspace.run.id, search=prompt))

    def _lay_out(self) -> None:
        self.findings_card.body.addWidget(self.findings)
        self.findings_card.body.addStretch(1)
        self.missing_card.body.addWidget(self._missing)
        self.missing_card.body.addStretch(1)
        head = QHBoxLayout()
        head.addWidget(self.back)
        head.addWidget(label("Diagnosis", "cardtitle"))
        head.addStretch(1)
        page = QWidget()
        page.setProperty("look", "page")
        self._grid = QGridLayout(page)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(tokens.GAP)
        scroll = QScrollArea()
        scroll.setWidget(page)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, tokens.GAP, 0, tokens.GAP)
        column.setSpacing(tokens.GAP)
        column.addLayout(head)
        column.addWidget(scroll, 1)
        self._arrange()

    def _arrange(self) -> None:
        is_narrow = self.width() < theme.px(_TWO_COLUMNS)
        if is_narrow == self._is_narrow:
            return
        self._is_narrow = is_narrow
        cards = (self.findings_card, self.learning, self.waste, self.checks, self.what_if, self.missing_card)
        for card in cards:
            self._grid.removeWidget(card)
            card.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        for place, card in enumerate(cards):
            row, column = (place, 0) if is_narrow else (place // 2, place % 2)
            self._grid.addWidget(card, row, column)
        for column in range(2):
            self._grid.setColumnStretch(column, 0 if is_narrow and column else 1)
        self._grid.setRowStretch(len(cards), 1)
