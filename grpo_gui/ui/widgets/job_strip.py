"""One line about a job in the background: what it does, how far it is, and Cancel; afterwards what came of it."""

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.models.background_job import BackgroundJob
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.labels import ElidedLabel

_STEPS = 1000


class JobStrip(QWidget):
    """Hidden while there is nothing to say."""

    def __init__(self) -> None:
        super().__init__()
        self._job: BackgroundJob[Any] | None = None
        self._action: Callable[[], None] | None = None
        self.words = ElidedLabel("", "label")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(theme.px(180))
        self.button = link("Cancel")
        self.close_button = link("Close")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 12, 4)
        row.setSpacing(10)
        row.addWidget(self.words, 1)
        row.addWidget(self.bar)
        row.addWidget(self.button)
        row.addWidget(self.close_button)
        self.button.clicked.connect(self._clicked)
        self.close_button.clicked.connect(self.hide)
        self.hide()

    @property
    def is_busy(self) -> bool:
        """True while a job goes on."""
        return self._job is not None

    def follow(self, job: BackgroundJob[Any]) -> None:
        """Show a job that was just started."""
        self._job = job
        self.words.setText(job.words)
        self.bar.setRange(0, 0)
        self.bar.show()
        self.button.setText("Cancel")
        self.button.show()
        self.close_button.hide()
        self.show()
        job.signals.progressed.connect(self._progressed)
        job.signals.ended.connect(self._ended)

    def tell(self, sentence: str, action: str = "", do: Callable[[], None] | None = None) -> None:
        """Show what was done, with a link that goes on from there."""
        if self._job is not None:
            return
        self.words.setText(sentence)
        self.bar.hide()
        self._action = do
        self.button.setText(action)
        self.button.setVisible(bool(action))
        self.close_button.show()
        self.setVisible(bool(sentence))

    def cancel(self) -> None:
        """Cancel the job, if there is one."""
        if self._job is not None:
            self._job.cancel()

    def _progressed(self, done: int, total: int) -> None:
        self.bar.setRange(0, _STEPS)
        self.bar.setValue(round(_STEPS * done / max(total, 1)))

    def _ended(self) -> None:
        self._job = None
        self.hide()

    def _clicked(self) -> None:
        if self._job is not None:
            self._job.cancel()
            self.words.setText(f"{self._job.words} Stopping\u2026")
        elif self._action is not None:
            self._action()
