"""Where a query is typed and asked: the field, the mode, the class of the query and why."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QWidget

from grpo_gui.router.context import context_from_text
from grpo_gui.router.explanation import Explanation
from grpo_gui.ui import icons, theme
from grpo_gui.ui.formatting import count
from grpo_gui.ui.models import router_words
from grpo_gui.ui.router_engine import DEAD, RouterOverview
from grpo_gui.ui.widgets.buttons import SegmentedControl, button
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.key_cap import KeyCap
from grpo_gui.ui.widgets.labels import ElidedLabel, label

_MODES = (("locked", "Locked"), ("shadow", "Shadow"), ("learn", "Learn"))
_MODE_TIPS = {
    "locked": "Nothing is learned; ratings wait, and are learned from when the mode changes.",
    "shadow": "Table and network learn, but the network never takes over.",
    "learn": "Table and network learn, and a network that is better for certain may take over.",
}


class QueryCard(Card):
    """`typed` gives the text, `asked` and `stopped` are the button, `mode_chosen` another mode."""

    typed = Signal(str)
    asked = Signal()
    stopped = Signal()
    mode_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.mode = SegmentedControl(_MODES, "learn", "Mode")
        for mode, tip in _MODE_TIPS.items():
            self.mode.set_tooltip(mode, tip)
        self.field = QueryField()
        self.ask = button("Ask", primary=True, tooltip="Ask the models that the router chooses (Enter).")
        self.number = ElidedLabel("", "hint")
        self.number.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.query_class = label("", "cardtitle")
        self.reason = ElidedLabel("", "label")
        self.features = ElidedLabel("", "hint")
        self._class_row = QWidget()
        self._is_streaming = False
        self._lay_out()
        self.field.textChanged.connect(self._typed)
        self.field.submitted.connect(self._press)
        self.field.escaped.connect(self.stopped)
        self.ask.clicked.connect(self._press)
        self.mode.changed.connect(self.mode_chosen)
        self.show_explanation(None)

    @property
    def text(self) -> str:
        """What is typed."""
        return self.field.toPlainText()

    def show_overview(self, overview: RouterOverview) -> None:
        """Show mode, how many models a query goes to, and how many decisions there are."""
        if self.mode.value != overview.mode:
            blocked = self.mode.blockSignals(True)
            self.mode.choose(overview.mode)
            self.mode.blockSignals(blocked)
        living = sum(model.state != DEAD for model in overview.models)
        self._asks = min(overview.group_size, living)
        waiting = f", {count(overview.waiting)} ratings wait" if overview.waiting else ""
        self.number.setText(f"blind, {_many(overview.decisions, 'decision')}{waiting}")
        self._name_button()

    def show_streaming(self, *, is_streaming: bool) -> None:
        """The button stops the answers while they are under way."""
        self._is_streaming = is_streaming
        self._name_button()

    def show_explanation(self, explanation: Explanation | None) -> None:
        """Show the class of the query; None: there is no query."""
        self._class_row.setVisible(explanation is not None)
        self.features.setVisible(explanation is not None)
        if explanation is not None:
            self.query_class.setText(explanation.query_class)
            self.reason.setText(f"because {explanation.reason}")
            self.features.setText(router_words.features(context_from_text(self.text.strip())))

    def next_query(self) -> None:
        """Go to the field, so that typing replaces what was asked."""
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.field.selectAll()

    def _typed(self) -> None:
        self.typed.emit(self.text)
        self._name_button()

    def _press(self) -> None:
        if self._is_streaming:
            self.stopped.emit()
        elif self.ask.isEnabled():
            self.asked.emit()

    def _name_button(self) -> None:
        if self._is_streaming:
            self.ask.setText("Stop")
            self.ask.setToolTip("Stop the answers that are under way (Esc).")
        else:
            self.ask.setText(f"Ask {_many(self._asks, 'model')}" if self._asks else "Ask")
            none = "No model can answer; see Models below."
            self.ask.setToolTip("Ask the models that the router chooses (Enter)." if self._asks else none)
        self.ask.setIcon(icons.icon("stop" if self._is_streaming else "start", "onaccent"))
        self.ask.setEnabled(self._is_streaming or (bool(self.text.strip()) and self._asks > 0))

    def _lay_out(self) -> None:
        self._asks = 0
        head, foot, named = QHBoxLayout(), QHBoxLayout(), QHBoxLayout(self._class_row)
        head.addWidget(label("Query", "title"))
        head.addStretch(1)
        head.addWidget(self.mode)
        foot.setSpacing(8)
        foot.addWidget(self.ask)
        foot.addWidget(KeyCap("Enter"), 0, Qt.AlignmentFlag.AlignVCenter)
        foot.addWidget(self.number, 1)
        named.setContentsMargins(0, 0, 0, 0)
        named.setSpacing(8)
        named.addWidget(label("Class", "label"))
        named.addWidget(self.query_class)
        named.addWidget(self.reason, 1)
        self.body.setSpacing(8)
        self.body.addLayout(head)
        self.body.addWidget(self.field, 1)
        self.body.addLayout(foot)
        self.body.addWidget(self._class_row)
        self.body.addWidget(self.features)
        theme.follow(self.ask, self._name_button)


class QueryField(QPlainTextEdit):
    """Enter submits, Shift+Enter begins a new line, Tab leaves, Esc stops."""

    submitted = Signal()
    escaped = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Query")
        self.setPlaceholderText("Ask something, then rate the answers")
        self.setTabChangesFocus(True)
        self.setMinimumHeight(theme.px(44))
        theme.follow(self, lambda: self.setFont(theme.font(13)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Submit by Enter, also with Ctrl; stop by Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
            return
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.submitted.emit()
        else:
            super().keyPressEvent(event)


def _many(value: int, thing: str) -> str:
    return f"{count(value)} {thing}" if value == 1 else f"{count(value)} {thing}s"
