"""What the base model does now: one sampled group, its rewards, and whether there is something to learn."""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QPainter, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
)

from grpo_gui.events import GroupSample
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.rating_rules import HUMAN
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.widgets.bars import RewardBarDelegate
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import label, mono

VALUE = Qt.ItemDataRole.UserRole


class Sampler(Protocol):
    """Samples a group beside the GUI thread and calls back on it; only the newest request counts."""

    def __call__(
        self,
        config: TrainConfig,
        seed: int,
        done: Callable[[GroupSample], None],
        failed: Callable[[TaskFailure], None],
    ) -> None:
        """Sample one group for `config` with `seed`."""


class PreviewCard(Card):
    """The card right of the form; `show_config` samples again where the config asks for other samples."""

    def __init__(self, sample: Sampler) -> None:
        super().__init__("What the base model does now")
        self._sample = sample
        self._config: TrainConfig | None = None
        self._seed = 0
        self._is_ready = False
        self._is_owed = False  # a sample was asked for while the card was hidden
        self.again = link("Again", "again", tooltip="Sample another prompt and its completions.")
        self.header.add_widget(self.again)
        self.prompt = mono("", 13)
        self.prompt.setWordWrap(True)
        self.table = _table()
        self.sentence = label("", "label", wrap=True)
        self.body.addWidget(self.prompt)
        self.body.addWidget(self.table)
        self.body.addWidget(self.sentence)
        self.again.clicked.connect(self._another)
        self._show_waiting("Samples appear here once torch is ready.")

    def set_ready(self) -> None:
        """Tell that torch is warm: from now on samples are drawn."""
        self._is_ready = True
        self._request()

    def show_config(self, config: TrainConfig) -> None:
        """Sample for another config, unless only settings changed that the samples do not depend on."""
        if self._config is not None and _sampled_by(config) == _sampled_by(self._config):
            return
        self._config = config
        self._request()

    def _another(self) -> None:
        self._seed += 1
        self._request()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw the samples that were asked for while nobody could see them."""
        super().showEvent(event)
        if self._is_owed:
            self._request()

    def _request(self) -> None:
        self._is_owed = not self.isVisible()
        if self._is_ready and self._config is not None and not self._is_owed:
            self.again.setEnabled(False)
            if not self.table.rowCount():
                self._show_waiting("Sampling\u2026")
            self._sample(self._config, self._seed, self._show, self._failed)

    def _show(self, group: GroupSample) -> None:
        self.again.setEnabled(True)
        self.prompt.setText(group.prompt)
        self.prompt.show()
        self.table.show()
        rewards = [completion.reward for completion in group.completions if completion.reward is not None]
        low, high = min([0.0, *rewards]), max([1.0, *rewards])
        self.table.setItemDelegateForColumn(1, RewardBarDelegate(self.table, VALUE, lambda: (low, high)))
        self.table.setRowCount(len(group.completions))
        for row, completion in enumerate(group.completions):
            text = QTableWidgetItem(completion.text or "(empty)")
            text.setToolTip(completion.text)
            text.setFont(theme.font(12, mono=True))
            value = QTableWidgetItem()
            value.setData(VALUE, completion.reward)
            value.setToolTip(", ".join(f"{name} {_opinion(given)}" for name, given in completion.rewards))
            self.table.setItem(row, 0, text)
            self.table.setItem(row, 1, value)
        rows = min(len(group.completions), 8)
        self.table.setFixedHeight(theme.px(tokens.TABLE_HEADER_HEIGHT) + rows * theme.px(tokens.ROW_DETAIL) + 2)
        self.sentence.setText(learning_sentence(group))

    def _failed(self, failure: TaskFailure) -> None:
        self.again.setEnabled(True)
        self._show_waiting(failure.message)

    def _show_waiting(self, text: str) -> None:
        self.table.setRowCount(0)
        self.table.hide()
        self.prompt.hide()
        self.sentence.setText(text)


def learning_sentence(group: GroupSample) -> str:
    """Return what this group's rewards mean for learning."""
    rewards = [completion.reward for completion in group.completions if completion.reward is not None]
    verdicts = [completion.correct for completion in group.completions]
    known = [verdict for verdict in verdicts if verdict is not None]
    start = f"{sum(known)} of {len(known)} right. " if known else ""
    if not rewards and any(source == HUMAN for completion in group.completions for source, _ in completion.rewards):
        return start + "People judge this run: it learns from the groups that you rate in the Rate view."
    if not rewards:
        return start + "No reward source has an opinion, so nothing would be learned; choose other rewards."
    if max(rewards) - min(rewards) > 1e-9:
        return (
            start + "The reward differs inside the group, so there is something to learn: "
            "better answers get a positive advantage, worse ones a negative one."
        )
    return (
        start + "The reward is the same for the whole group, so this group teaches nothing: every advantage is 0. "
        "Others may differ; sample again."
    )


def _opinion(value: float | None) -> str:
    return "no opinion" if value is None else f"{value:.2f}"


def _sampled_by(config: TrainConfig) -> tuple[object, ...]:
    """Return the settings that the samples depend on."""
    return (
        config.task,
        config.task_mix,
        config.prompt_file,
        config.min_size,
        config.max_size,
        config.rewards,
        config.model,
        config.num_generations,
        config.max_completion_length,
        config.temperature,
        config.top_k,
        config.top_p,
    )


class _TextDelegate(QStyledItemDelegate):
    """A completion in the monospace font, shortened at the right."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw the text."""
        painter.save()
        try:
            painter.setFont(theme.font(12, mono=True))
            painter.setPen(theme.current().color("text"))
            area = option.rect.adjusted(9, 0, -6, 0)
            text = str(index.data() or "").replace("\n", "\u23ce")
            shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, area.width())
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, shown)
        finally:
            painter.restore()


def _table() -> QTableWidget:
    table = QTableWidget(0, 2)
    for column, (text, side) in enumerate((("completion", "AlignLeft"), ("reward", "AlignRight"))):
        heading = QTableWidgetItem(text)
        heading.setTextAlignment(Qt.AlignmentFlag[side] | Qt.AlignmentFlag.AlignVCenter)
        table.setHorizontalHeaderItem(column, heading)
    table.setAccessibleName("Completions of the base model")
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(theme.px(tokens.ROW_DETAIL))
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    table.horizontalHeader().setHighlightSections(False)
    table.setShowGrid(False)
    table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    table.setItemDelegateForColumn(0, _TextDelegate(table))
    return table
