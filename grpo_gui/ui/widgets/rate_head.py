"""The upper part of the Rate view: way of judging, prompt, the sentence on the next key, and the note."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from grpo_gui.ui import icons, theme
from grpo_gui.ui.models.rating_draft import JudgeBy
from grpo_gui.ui.models.rating_queue import Ready
from grpo_gui.ui.models.visible_text import paragraph
from grpo_gui.ui.widgets.buttons import SegmentedControl
from grpo_gui.ui.widgets.labels import ElidedLabel, label
from grpo_gui.ui.widgets.prompt_text import PromptText

MODES = (
    (JudgeBy.RANKS.value, "Rank", "Best to worst; whatever you leave out is tied at the end. (M: the next way)"),
    (JudgeBy.SCORES.value, "Score 1 to 5", "A score for each answer on its own. (M: the next way)"),
    (JudgeBy.PAIRS.value, "Pairs", "Two at a time; the better one stays. (M: the next way)"),
    (JudgeBy.LABELS.value, "Good or bad", "Mark the good ones. (M: the next way)"),
)
_BLIND = "Blind: reward, advantage and step appear after you submit"
_MOST_STANDING = 6
_LEAVING = (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter)


class RateHead(QWidget):
    """`mode_chosen` only when a person chose; `note_kept` when the note field is left."""

    mode_chosen = Signal(object)  # JudgeBy
    note_kept = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.mode = SegmentedControl([(value, text) for value, text, _ in MODES], MODES[0][0], "Judge by")
        self.blind = ElidedLabel(_BLIND, "label")
        self.rater = label("", "hint", "The name stored with each rating; Settings change it.")
        self.reason = ElidedLabel("", "small")
        self.prompt = PromptText()
        self.title = label("", "title")
        self.sentence = ElidedLabel("", "label")
        self.standing = ElidedLabel("", "label", Qt.TextElideMode.ElideRight)
        self.notice = label("", "warn", wrap=True)
        self.note = QLineEdit()
        self._note_before = ""
        self.note_text = ElidedLabel("", "small")
        self.filler = QWidget()
        self.missing = label("", "lead", wrap=True)
        self._card = QFrame()
        self._sentence_row = QWidget()
        self._lay_out()
        self.mode.changed.connect(lambda value: self.mode_chosen.emit(JudgeBy(value)))
        self.note.installEventFilter(self)

    def show_group(self, ready: Ready | None, rater: str, missing: str, notice: str) -> None:
        """Show the prompt of another group, or why there is none."""
        self.rater.setText(f"rater: {rater}")
        self._card.setVisible(ready is not None)
        self._sentence_row.setVisible(ready is not None)
        self.missing.setText(missing)
        self.filler.setVisible(ready is None)
        self.notice.setText(notice)
        self.notice.setVisible(bool(notice))
        if ready is not None:
            left_out = ready.layout.left_out
            more = f"; {left_out} of {len(ready.layout.positions)} answers are left out" if left_out else ""
            self.reason.setText(ready.reason + more)
            self.prompt.show_prompt(paragraph(ready.group.prompt))
            self.note.hide()

    def show_words(self, words: tuple[str, str], standing: Sequence[str], note: str) -> None:
        """Say what the next key does, where the answers stand, and the note."""
        self.title.setText(words[0])
        self.sentence.setText(words[1])
        shown = [*standing[: _MOST_STANDING - 1], *standing[-1:]] if len(standing) > _MOST_STANDING else standing
        self.standing.setText("  \u203a  ".join(shown))
        self.standing.setVisible(bool(standing))
        self.note_text.setText(f"Note: {note}" if note else "")
        self.note_text.setVisible(bool(note) and self.note.isHidden())

    def show_mode(self, judge_by: JudgeBy) -> None:
        """Show the way of judging, without telling of a choice."""
        self.mode.blockSignals(True)
        self.mode.choose(judge_by.value)
        self.mode.blockSignals(False)

    def next_mode(self) -> None:
        """Choose the way of judging after the present one."""
        values = [value for value, _, _ in MODES]
        self.mode.choose(values[(values.index(self.mode.value) + 1) % len(values)])

    def edit_note(self, note: str) -> None:
        """Open the field of the note."""
        self._note_before = note
        self.note.setText(note)
        self.note.show()
        self.note_text.hide()
        self.note.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter keeps the note and Escape leaves it as it was; neither goes on to the cards."""
        if watched is self.note and isinstance(event, QKeyEvent) and event.key() in _LEAVING:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                self._keep_note(self._note_before if event.key() == Qt.Key.Key_Escape else self.note.text())
                return True
        return super().eventFilter(watched, event)

    def _keep_note(self, text: str) -> None:
        self.note.hide()
        self.note_kept.emit(text)

    def _lay_out(self) -> None:
        for value, _, tooltip in MODES:
            self.mode.set_tooltip(value, tooltip)
        self.mode.set_focus_policy(Qt.FocusPolicy.NoFocus)
        eye = QLabel()
        theme.follow(eye, lambda: eye.setPixmap(icons.pixmap("blind", "text3", 14)))
        self.blind.setAlignment(Qt.AlignmentFlag.AlignRight)
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self.mode)
        top.addWidget(self.blind, 1)
        top.addWidget(eye)
        top.addSpacing(8)
        top.addWidget(self.rater)
        self._card.setProperty("look", "card")
        self._card.setAccessibleName("Prompt")
        self.reason.setAlignment(Qt.AlignmentFlag.AlignRight)
        line = QHBoxLayout()
        line.addWidget(label("Prompt", "hint"))
        line.addWidget(self.reason, 1)
        inner = QVBoxLayout(self._card)
        inner.setContentsMargins(16, 8, 16, 10)
        inner.setSpacing(4)
        inner.addLayout(line)
        inner.addWidget(self.prompt)
        words = QHBoxLayout(self._sentence_row)
        words.setContentsMargins(0, 0, 0, 0)
        words.setSpacing(8)
        words.addWidget(self.title)
        words.addWidget(self.sentence, 3)
        self.standing.setAlignment(Qt.AlignmentFlag.AlignRight)
        words.addWidget(self.standing, 2)
        self.note.setPlaceholderText("A note on this group; Enter keeps it, Esc leaves it")
        self.note.setAccessibleName("Note")
        self.note.setMaxLength(2_000)
        self.note.hide()
        self.note_text.hide()
        self.missing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        middle = QVBoxLayout(self.filler)
        middle.addStretch(1)
        middle.addWidget(self.missing)
        middle.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(top)
        for widget in (self._card, self.notice, self._sentence_row, self.note, self.note_text):
            column.addWidget(widget)
        column.addWidget(self.filler, 1)
