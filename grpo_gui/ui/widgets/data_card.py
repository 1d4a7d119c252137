"""The first rows of the user's data as the model will see them."""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent

from grpo_gui.training.config import TrainConfig
from grpo_gui.training.data_rows import DataPreview, DataRow
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.formatting import count
from grpo_gui.ui.models.config_draft import data_settings
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import label, mono

SHOWN_TEXT = 600
ROWS = 3


class DataReader(Protocol):
    """Reads the data of a config beside the GUI thread and calls back on it."""

    def __call__(
        self, config: TrainConfig, done: Callable[[DataPreview], None], failed: Callable[[TaskFailure], None]
    ) -> None:
        """Read the first rows."""


class DataCard(Card):
    """Shown while the task is a file; reads again where file, model, template or lengths change.

    `checked` says what was wrong with the data that belong to a config's `data_settings`; "" for nothing.
    """

    checked = Signal(object, str)

    def __init__(self, read: DataReader) -> None:
        super().__init__("Your data as the model sees it")
        self._read = read
        self._shown: TrainConfig | None = None
        self._owed = False
        self.sentence = label("", "label", wrap=True)
        self.body.addWidget(self.sentence)
        self.again = link("Read the file again", tooltip="After you have mended it.")
        self.again.clicked.connect(self._read_again)
        self.again.hide()
        self.body.addWidget(self.again)
        self.texts = [mono("", 11) for _ in range(ROWS)]
        self.facts = [label("", "hint", wrap=True) for _ in range(ROWS)]
        for text, facts in zip(self.texts, self.facts, strict=True):
            text.setWordWrap(True)
            self.body.addWidget(text)
            self.body.addWidget(facts)
        self.hide()

    def show_config(self, config: TrainConfig) -> None:
        """Read the data of a config, unless what is shown is the same."""
        if config.task != "file":
            self.hide()
            return
        relevant = data_settings(config)
        if relevant != self._shown:
            self._shown = relevant
            self._owed = True
        self.show()
        self._pay()

    def showEvent(self, event: QShowEvent) -> None:
        """Read what was asked for while hidden."""
        super().showEvent(event)
        self._pay()

    def _pay(self) -> None:
        if self._owed and self._shown is not None and self.isVisible():
            self._owed = False
            self._fill("Reading\u2026", ())
            settings = self._shown
            self._read(
                settings,
                lambda preview: self._show(settings, preview),
                lambda failure: self._show_failure(settings, failure),
            )

    def _read_again(self) -> None:
        self._owed = True
        self._pay()

    def _show_failure(self, settings: TrainConfig, failure: TaskFailure) -> None:
        self._fill(failure.message, ())
        self.again.show()
        self.checked.emit(settings, failure.message)

    def _show(self, settings: TrainConfig, preview: DataPreview) -> None:
        counted = "" if preview.count is None else f"{count(preview.count)} rows. "
        longest = max((row.tokens for row in preview.rows), default=0)
        self._fill(
            f"{counted}The first ones, with special tokens; the longest has {count(longest)} tokens.", preview.rows
        )
        self.checked.emit(settings, "")

    def _fill(self, sentence: str, rows: tuple[DataRow, ...]) -> None:
        self.sentence.setText(sentence)
        self.again.hide()
        for position, (text, facts) in enumerate(zip(self.texts, self.facts, strict=True)):
            row = rows[position] if position < len(rows) else None
            text.setVisible(row is not None)
            facts.setVisible(row is not None)
            if row is not None:
                whole = row.text if len(row.text) <= SHOWN_TEXT else row.text[:SHOWN_TEXT] + "\u2026"
                text.setText(whole)
                cut = f", {count(row.cut)} tokens at its beginning are cut off" if row.cut else ""
                answer = "no answer" if row.answer is None else f"answer {row.answer}"
                facts.setText(f"{count(row.tokens)} tokens{cut}; {answer}")
