"""The same prompt's completions side by side: a block for each run, distinct answers with number and reward."""

import html
from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from grpo_gui.store.records_runs import SharedPrompt
from grpo_gui.ui import theme
from grpo_gui.ui.formatting import number
from grpo_gui.ui.models.run_overlay import OverlaidRun
from grpo_gui.ui.models.same_prompt import Answer, Answers
from grpo_gui.ui.models.visible_text import one_line, paragraph
from grpo_gui.ui.plots.overlay_layers import SWATCHES
from grpo_gui.ui.widgets.bars import paint_reward_bar
from grpo_gui.ui.widgets.card import CardHeader
from grpo_gui.ui.widgets.labels import ElidedLabel, label
from grpo_gui.ui.widgets.legend import Legend, LegendEntry

_MOST_ANSWERS = 4
_BAR_WIDTH = 54


class RunsAnswers(QWidget):
    """`prompt_chosen` asks for the answers to another prompt."""

    prompt_chosen = Signal(object)  # SharedPrompt

    def __init__(self) -> None:
        super().__init__()
        self.header = CardHeader("Same prompt")
        self.prompts = QComboBox()
        self.prompts.setAccessibleName("Prompt that the runs share")
        self.prompts.setToolTip(
            "Prompts that at least two of the overlaid runs have sampled. A click in a plot takes one near."
        )
        self.prompts.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.prompts.setMinimumContentsLength(12)
        self.prompts.activated.connect(lambda place: self.prompt_chosen.emit(self.prompts.itemData(place)))
        self.sentence = label("", "label", wrap=True)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(10)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.header)
        column.addWidget(self.prompts)
        column.addWidget(self.sentence)
        column.addLayout(self._grid)
        self.blocks: list[AnswerBlock] = []
        self.show_prompts((), 0)

    def show_prompts(self, prompts: Sequence[SharedPrompt], runs: int) -> None:
        """Offer these prompts; `runs` is how many are overlaid."""
        chosen = self.prompts.currentData()
        self.prompts.clear()
        for one in prompts:
            self.prompts.addItem(one_line(one.prompt), one)
        same = [place for place, one in enumerate(prompts) if chosen is not None and one.prompt == chosen.prompt]
        self.prompts.setCurrentIndex(same[0] if same else (0 if prompts else -1))
        self.prompts.setVisible(bool(prompts))
        self.header.set_hint(f"{len(prompts)} shared" if prompts else "")
        words = "" if prompts else "Tick two runs to see what they answered to the same prompt."
        if not prompts and runs > 1:
            words = "These runs have sampled no prompt in common; runs with the same task and seed do."
        self.sentence.setText(words)
        self.sentence.setVisible(bool(words))
        if not prompts:
            self.show_answers((), ())

    def choose(self, prompt: SharedPrompt) -> None:
        """Choose a prompt as a click would."""
        place = next((n for n in range(self.prompts.count()) if self.prompts.itemData(n) == prompt), -1)
        if place >= 0:
            self.prompts.setCurrentIndex(place)
            self.prompt_chosen.emit(prompt)

    def show_answers(self, answers: Sequence[Answers], runs: Sequence[OverlaidRun]) -> None:
        """Show what the runs answered."""
        for block in self.blocks:
            self._grid.removeWidget(block)
            block.hide()
            block.deleteLater()
        by_id = {overlaid.run.id: overlaid for overlaid in runs}
        self.blocks = [AnswerBlock(one, by_id[one.run_id]) for one in answers if one.run_id in by_id]
        for place, block in enumerate(self.blocks):
            self._grid.addWidget(block, place // 2, place % 2, Qt.AlignmentFlag.AlignTop)


class AnswerBlock(QWidget):
    """The answers of one run."""

    def __init__(self, answers: Answers, overlaid: OverlaidRun) -> None:
        super().__init__()
        self.answers = answers
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        top = QHBoxLayout()
        top.setSpacing(0)
        swatch = Legend([LegendEntry("", overlaid.style.color, SWATCHES[overlaid.style.dash])])
        top.addWidget(swatch)
        top.addWidget(ElidedLabel(overlaid.title, "small"), 1)
        top.addWidget(label(f"step {answers.step}", "hint"))
        column.addLayout(top)
        for answer in answers.answers[:_MOST_ANSWERS]:
            column.addWidget(_AnswerLine(answer))
        more = len(answers.answers) - _MOST_ANSWERS
        if more > 0:
            column.addWidget(label(f"and {more} more answer{'s' if more > 1 else ''}", "hint"))


class _AnswerLine(QWidget):
    """Text, how many times, the reward as bar and number."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        text = ElidedLabel(one_line(answer.text) or "empty")
        text.setToolTip(f"<p style='white-space: pre-wrap'>{html.escape(paragraph(answer.text))}</p>")
        theme.follow(text, lambda: text.setFont(theme.font(12, mono=True)))
        row.addWidget(text, 1)
        row.addWidget(label(f"\u00d7{answer.times}", "small"))
        row.addWidget(_RewardBar(answer.reward))
        row.addWidget(label(number(answer.reward)))
        self.setAccessibleName(f"{answer.text}, {answer.times} times, reward {number(answer.reward)}")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)


class _RewardBar(QWidget):
    def __init__(self, reward: float | None) -> None:
        super().__init__()
        self._reward = reward
        self.setFixedSize(theme.px(_BAR_WIDTH), theme.px(16))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the bar from 0 to 1."""
        paint_reward_bar(QPainter(self), QRect(0, 0, self.width(), self.height()), self._reward)
