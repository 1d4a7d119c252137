"""Is it learning: the change of each curve in a sentence, and the prompts that teach nothing."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from grpo_gui.diagnose.learning import Progress, Verdict
from grpo_gui.diagnose.prompts import PromptRecord
from grpo_gui.ui import icons
from grpo_gui.ui.formatting import count
from grpo_gui.ui.models.visible_text import one_line
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import label

_MOST_PROMPTS = 20
_TIP = (
    "The change along a line fitted to the newest 200 values. The range in brackets holds the true change in 95 of 100 "
    "cases; it is found by drawing the run's own ups and downs again, in blocks of 10 steps."
)
_MARKS = {
    Verdict.RISING: ("learning", "good"),
    Verdict.FALLING: ("warning", "warn"),
    Verdict.SAME: ("unknown", "text2"),
    Verdict.UNCLEAR: ("unknown", "text2"),
    Verdict.NOT_ENOUGH: ("unknown", "text3"),
}
_TOO_FEW = "Listed once a prompt was answered 16 times."


class LearningCard(Card):
    """`prompt_asked` gives the prompt whose completions shall be shown."""

    prompt_asked = Signal(str)

    def __init__(self) -> None:
        super().__init__("Is it learning")
        self.header.title.setToolTip(_TIP)
        self.sentences = [label("", "", _TIP, wrap=True) for _ in range(3)]
        self._icons = [label() for _ in range(3)]
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setColumnStretch(1, 1)
        for place, (icon, sentence) in enumerate(zip(self._icons, self.sentences, strict=True)):
            grid.addWidget(icon, place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(sentence, place, 1)
        self.never = PromptList("Never solved")
        self.always = PromptList("Always solved")
        self.body.addLayout(grid)
        lists = QHBoxLayout()
        lists.setSpacing(16)
        for one in (self.never, self.always):
            one.chosen.connect(self.prompt_asked)
            lists.addWidget(one, 1, Qt.AlignmentFlag.AlignTop)
        self.body.addLayout(lists)
        self.body.addStretch(1)

    def show_learning(
        self, progress: Sequence[Progress], never: Sequence[PromptRecord], always: Sequence[PromptRecord]
    ) -> None:
        """Show what is known now."""
        for one, icon, sentence in zip(progress, self._icons, self.sentences, strict=True):
            sentence.setText(one.sentence)
            icon.setPixmap(icons.pixmap(*_MARKS[one.verdict], 14))
        self.never.show_prompts(never)
        self.always.show_prompts(always)


class PromptList(QWidget):
    """A title with a number, and up to 20 prompts as links."""

    chosen = Signal(str)

    def __init__(self, title: str) -> None:
        super().__init__()
        self._name = title
        self.title, self._hint = label(title, "title"), label(_TOO_FEW, "hint", wrap=True)
        self.links: list[QPushButton] = []
        self._prompts: tuple[str, ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 4, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.title)
        self._column.addWidget(self._hint)

    def show_prompts(self, records: Sequence[PromptRecord]) -> None:
        """Show other prompts, the most tried first."""
        shown = records[:_MOST_PROMPTS]
        self._prompts = tuple(record.prompt for record in shown)
        while len(self.links) < len(shown):
            one = link("", tooltip="Show the completions of this prompt.")
            one.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            one.clicked.connect(self._clicked)
            self.links.append(one)
            self._column.insertWidget(len(self.links), one)
        for place, one in enumerate(self.links):
            one.setVisible(place < len(shown))
            if place < len(shown):
                one.setText(
                    f"{one_line(shown[place].prompt).replace('&', '&&')}  ({count(shown[place].judged)} answers)"
                )
        self.title.setText(f"{self._name}: {count(len(records))}" if records else self._name)
        more = len(records) - len(shown)
        self._hint.setText(f"and {count(more)} more" if more else _TOO_FEW)
        self._hint.setVisible(bool(more) or not shown)

    def _clicked(self) -> None:
        sender = self.sender()
        if isinstance(sender, QPushButton):
            self.chosen.emit(self._prompts[self.links.index(sender)])
