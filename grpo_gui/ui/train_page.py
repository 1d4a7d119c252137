"""The Train page: the run form until a run has its first step, then the plots."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from grpo_gui.events import Event, StepCompleted
from grpo_gui.store.records import RunRecord
from grpo_gui.ui.views.run_form import RunForm
from grpo_gui.ui.workspace import Workspace


class TrainPage(QStackedWidget):
    """Swaps form and plots; `form_shown` and `view_made` tell the window what changed."""

    form_shown = Signal(bool)
    view_made = Signal()

    def __init__(self, workspace: Workspace, form: RunForm, make_view: Callable[[Workspace], QWidget]) -> None:
        super().__init__()
        self._workspace, self._make_view = workspace, make_view
        self._view: QWidget | None = None
        self._awaits_first_step = False
        self.form = form
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.addWidget(form)
        workspace.run_selected.connect(self._run_selected)
        workspace.events.connect(self._take)
        workspace.handle_changed.connect(self._handle_changed)

    @property
    def shows_form(self) -> bool:
        """True while the form is on screen."""
        return self.currentWidget() is self.form

    def show_form(self) -> None:
        """Show the form, for instance for another run after this one."""
        self._awaits_first_step = False
        self._show(self.form)

    def show_plots(self) -> None:
        """Show the selected run's plots; the view is made at its first use."""
        self._awaits_first_step = False
        if self._view is None:
            self._view = self._make_view(self._workspace)
            self.addWidget(self._view)
            self.view_made.emit()
        self._show(self._view)

    def _run_selected(self, run: RunRecord | None) -> None:
        if run is None:
            self.show_form()
        elif self.shows_form and run.steps_done == 0 and self._workspace.is_selected_trained_here:
            self._awaits_first_step = True
        else:
            self.show_plots()

    def _take(self, events: list[Event]) -> None:
        if self._awaits_first_step and any(isinstance(event, StepCompleted) for event in events):
            self.show_plots()

    def _handle_changed(self) -> None:
        if self._awaits_first_step and not (self._workspace.is_training or self._workspace.is_starting):
            self.show_plots()

    def _show(self, widget: QWidget) -> None:
        if self.currentWidget() is not widget:
            self.setCurrentWidget(widget)
            self.setFocus()  # else Qt moves it into the first field, where the space bar does not pause
        self.form_shown.emit(self.shows_form)
