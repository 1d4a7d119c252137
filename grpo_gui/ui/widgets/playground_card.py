"""Talk to a snapshot: one prompt, one sampled answer, and the answers before it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from grpo_gui.snapshots.judging import Answer
from grpo_gui.ui import theme
from grpo_gui.ui.models.visible_text import paragraph
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import label

TEMPERATURES = (0.0, 0.5, 0.7, 1.0, 1.3)
_DEFAULT = 1.0
_KEPT = 8


class PlaygroundCard(Card):
    """`asked` gives the prompt and the temperature."""

    asked = Signal(str, float)

    def __init__(self) -> None:
        super().__init__("Try it", padding=12)
        self._title = ""
        self._answers: list[str] = []
        self.prompt = QLineEdit()
        self.prompt.setPlaceholderText("A prompt for this snapshot")
        self.prompt.setAccessibleName("Prompt")
        self.temperature = QComboBox()
        self.sample = button("Sample", tooltip="Sample one answer at this temperature (Enter).")
        self.answer = label("", "", wrap=True)
        self.answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.earlier = label("", "label", wrap=True)
        self.earlier.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._lay_out()
        self.prompt.returnPressed.connect(self._ask)
        self.sample.clicked.connect(self._ask)

    def show_model(self, title: str, can_ask: bool, reason: str) -> None:
        """Talk to another model from now on; `reason` says why that is not possible."""
        self._title = title
        self.header.set_hint(title)
        self.sample.setEnabled(can_ask)
        self.prompt.setEnabled(can_ask)
        if reason:
            self.sample.setToolTip(reason)

    def show_waiting(self) -> None:
        """An answer is on its way."""
        self.sample.setEnabled(False)
        self.sample.setText("Sampling\u2026")

    def show_answer(self, title: str, prompt: str, answer: Answer) -> None:
        """Show an answer; the ones before stay below it."""
        self._ready()
        cut = ", cut at the longest length" if answer.truncated else ""
        if self.answer.text():
            self._answers.insert(0, f"{self.answer.toolTip()}  \u2192  {self.answer.text()}")
        self.answer.setText(paragraph(answer.text) if answer.text else "(empty)")
        self.answer.setToolTip(f"{title}: {paragraph(prompt)}")
        self.earlier.setText("\n".join(self._answers[:_KEPT]))
        self.earlier.setVisible(bool(self._answers))
        self.header.set_value("")
        self.header.set_hint(f"{title}, {answer.tokens} tokens{cut}")

    def show_failure(self, sentence: str) -> None:
        """Say why there is no answer."""
        self._ready()
        self.answer.setText(sentence)

    def _ready(self) -> None:
        self.sample.setEnabled(True)
        self.sample.setText("Sample")

    def _ask(self) -> None:
        text = self.prompt.text()
        if text.strip() and self.sample.isEnabled():
            self.asked.emit(text, float(self.temperature.currentData()))

    def _lay_out(self) -> None:
        for value in TEMPERATURES:
            self.temperature.addItem(f"T {value:.1f}" if value else "T 0 (likeliest)", value)
        self.temperature.setCurrentIndex(TEMPERATURES.index(_DEFAULT))
        self.temperature.setAccessibleName("Temperature")
        self.temperature.setToolTip("Divides the logits before sampling; 0 always takes the likeliest token.")
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.prompt, 1)
        row.addWidget(self.temperature)
        row.addWidget(self.sample)
        page = QWidget()
        page.setProperty("look", "page")
        inner = QVBoxLayout(page)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(2)
        inner.addWidget(self.answer)
        inner.addWidget(self.earlier)
        inner.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(page)
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setMinimumHeight(theme.px(24))
        self.earlier.hide()
        self.body.addLayout(row)
        self.body.addWidget(scroll, 1)
        theme.follow(self.answer, lambda: self.answer.setFont(theme.font(13)))
