"""Everything about one completion: prompt, tokens, reward by source, and how its group led to the advantage."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from grpo_gui.store.records import CompletionRef, GroupRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.formatting import number
from grpo_gui.ui.models.clip_bounds import Bounds
from grpo_gui.ui.models.completion_columns import signed
from grpo_gui.ui.models.reward_parts import aggregation_sentence, group_numbers, reward_parts
from grpo_gui.ui.models.token_values import token_values
from grpo_gui.ui.models.visible_text import one_line
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.labels import ElidedLabel, Pill, hline, label
from grpo_gui.ui.widgets.reward_table import RewardTable
from grpo_gui.ui.widgets.text_block import TextBlock
from grpo_gui.ui.widgets.token_panel import TokenPanel

_SUMS = {
    "reward": "reward: the weighted sum over the sources that had an opinion.",
    "group mean": "Mean of the rewards of the group's completions that have one.",
    "group std": "Standard deviation of those rewards, sample or population as the run is set.",
    "advantage": "advantage: what this completion is weighted by in the loss. Above 0 it becomes more likely.",
}
_EMPTY = "Choose a completion in the list to see its tokens and rewards."


class CompletionDetail(QFrame):
    """The right side of the Completions view. `curve_requested` asks for the place of the completion on the curves."""

    curve_requested = Signal(object)  # CompletionRef

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "card")
        self._ref: CompletionRef | None = None
        self._title = label("", "cardtitle")
        self._place = ElidedLabel(look="label")
        self._verdict = Pill()
        self.curve = button("On the curve", "curve", tooltip="Show the step of this completion in the Train view.")
        self._prompt = TextBlock("Prompt", 13, 4)
        self._answer = ElidedLabel(look="small")
        self.tokens = TokenPanel()
        self._aggregation = label("", "hint")
        self.rewards = RewardTable()
        self._sums: dict[str, QLabel] = {}
        self._empty = label(_EMPTY, "lead", wrap=True)
        self._body = QWidget()
        self._lay_out()
        self.curve.clicked.connect(self._ask_for_curve)
        self.clear()

    @property
    def ref(self) -> CompletionRef | None:
        """The completion that is shown."""
        return self._ref

    def clear(self, sentence: str = _EMPTY) -> None:
        """Show no completion, but a sentence saying why."""
        self._ref = None
        self._empty.setText(sentence)
        self._empty.show()
        self._body.hide()

    def show_completion(self, group: GroupRecord, index: int, config: TrainConfig, bounds: Bounds) -> None:
        """Show the completion at position `index` of a group; `bounds` are those of the ratio at its step."""
        sample = group.completions[index]
        self._ref = CompletionRef(group.ref, sample.index)
        self._title.setText(f"Completion {sample.index + 1}")
        self._place.setText(f"step {group.ref.step} · group {group.ref.index + 1}")
        self._show_verdict(sample.correct, truncated=sample.truncated, length=len(sample.token_ids))
        self._prompt.show_text(group.prompt)
        self._answer.setVisible(group.answer is not None)
        self._answer.setText(f"answer  {one_line(group.answer or '')}")
        values = token_values(sample, bias_corrected_kl=config.use_bias_correction_kl)
        self.tokens.show_values(values, sample.text, bounds)
        self._aggregation.setText(aggregation_sentence(config))
        self.rewards.show_parts(reward_parts(group, index, config))
        numbers = group_numbers(group, std=config.advantage_std)
        for name, text in (
            ("reward", number(sample.reward)),
            ("group mean", number(numbers.mean)),
            ("group std", number(numbers.std)),
            ("advantage", signed(sample.advantage)),
        ):
            self._sums[name].setText(text)
            self._sums[name].setAccessibleName(f"{name} {text}")
        self._empty.hide()
        self._body.show()

    def text_of(self, name: str) -> str:
        """Give one of the four numbers at the bottom, as shown."""
        return self._sums[name].text()

    def _show_verdict(self, correct: bool | None, *, truncated: bool, length: int) -> None:
        words = [] if correct is None else ["right" if correct else "wrong"]
        words += [f"cut at {length} tokens"] if truncated else []
        kind = "warn" if correct is None else "good" if correct else "bad"
        self._verdict.set_state(", ".join(words), kind)
        self._verdict.setVisible(bool(words))

    def _ask_for_curve(self) -> None:
        if self._ref is not None:
            self.curve_requested.emit(self._ref)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self._body)
        column.setContentsMargins(12, 10, 12, 12)
        column.setSpacing(8)
        column.addLayout(self._head())
        problem = QVBoxLayout()
        problem.setSpacing(0)
        problem.addWidget(self._prompt)
        problem.addWidget(self._answer)
        column.addLayout(problem)
        column.addWidget(hline())
        column.addWidget(self.tokens)
        column.addWidget(hline())
        reward_head = QHBoxLayout()
        reward_head.setSpacing(10)
        reward_head.addWidget(label("Reward", "title"))
        reward_head.addWidget(self._aggregation, 1)
        column.addLayout(reward_head)
        column.addWidget(self.rewards)
        column.addLayout(self._sums_grid())
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        page = QWidget()
        page.setProperty("look", "page")
        outer = QVBoxLayout(page)
        outer.setContentsMargins(0, 0, 0, 0)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setMargin(24)
        outer.addWidget(self._empty, 1)
        outer.addWidget(self._body, 1)
        scroll.setWidget(page)
        frame = QVBoxLayout(self)
        frame.setContentsMargins(1, 1, 1, 1)
        frame.addWidget(scroll)

    def _head(self) -> QHBoxLayout:
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(self._title)
        head.addWidget(self._place, 1)
        head.addWidget(self._verdict)
        head.addWidget(self.curve)
        return head

    def _sums_grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setVerticalSpacing(0)
        for column, (name, tooltip) in enumerate(_SUMS.items()):
            self._sums[name] = label("", "cardtitle", tooltip)
            grid.addWidget(label(name, "small", tooltip), 0, column)
            grid.addWidget(self._sums[name], 1, column)
            grid.setColumnStretch(column, 1)
        return grid
