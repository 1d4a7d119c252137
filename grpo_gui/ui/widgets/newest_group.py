"""The newest group, or a held one: prompt, answer, completions with bars, the sum check, and tokens of one of them."""

import math
import statistics

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QWidget

from grpo_gui.events import CompletionSample, GroupSample
from grpo_gui.store.records import CompletionRef
from grpo_gui.ui import icons, theme
from grpo_gui.ui.formatting import number
from grpo_gui.ui.models.group_focus import GroupFocus
from grpo_gui.ui.models.shown_step import distinct_count, has_signal, reward_bounds
from grpo_gui.ui.models.token_values import TokenMeasure, token_values
from grpo_gui.ui.models.token_words import MEASURE_TOOLTIPS
from grpo_gui.ui.models.visible_text import one_line
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.group_table import GroupTable
from grpo_gui.ui.widgets.icon_mark import IconMark
from grpo_gui.ui.widgets.labels import ElidedLabel, hline, label, mono, set_look
from grpo_gui.ui.widgets.text_block import TextBlock
from grpo_gui.ui.widgets.token_heat_map import TokenHeatMap

_PROMPT_LINES = 4
_TOKENS_HEIGHT = 94  # three lines of tokens, then it scrolls
_SUM_TOLERANCE = 5e-3  # what is shown with two digits


class NewestGroup(Card):
    """Shows the group that `GroupFocus` has chosen."""

    completion_opened = Signal(object)  # CompletionRef, to be opened among all completions

    def __init__(self, focus: GroupFocus) -> None:
        super().__init__("Newest group")
        self._focus = focus
        self._completion: CompletionSample | None = None
        self.hold = link("Hold", tooltip="Keep this group on screen; new steps go on unseen.")
        self.hold.setCheckable(True)
        self.hold.toggled.connect(self._hold_toggled)
        self.header.add_widget(self.hold)
        self.prompt = TextBlock("Prompt", 13, _PROMPT_LINES)
        self._answer = ElidedLabel(look="label")
        theme.follow(self._answer, lambda: self._answer.setFont(theme.font(12, mono=True)))
        self._place = label("", "small", "The group with the widest spread of advantages is shown first.")
        self.table = GroupTable()
        self._numbers = ElidedLabel(look="small")
        self._numbers.setToolTip("Mean and sample standard deviation of the rewards, and how many texts differ.")
        self._check = label("", "small")
        self._lay_out()
        self._lay_out_tokens()
        self.table.chosen.connect(self._show_tokens)
        self.table.clicked.connect(self._row_clicked)
        self.table.opened.connect(self._open)
        self.table.setToolTipDuration(20_000)
        theme.follow(self, self._draw_icons)
        focus.changed.connect(self.refresh)
        focus.held_changed.connect(self._held_changed)

    def refresh(self) -> None:
        """Show what the focus has chosen now."""
        step = self._focus.step
        if step is None:
            return
        group = step.groups[self._focus.place]
        self.header.title.setText("Group" if self._focus.held else "Newest group")
        self.header.set_hint(f"step {step.step}")
        if self.prompt.toPlainText() != group.prompt:
            self.prompt.show_text(group.prompt)
        self._answer.setText(
            "no answer to compare with" if group.answer is None else f"answer {one_line(group.answer)}"
        )
        self._place.setText(f"group {self._focus.place + 1} of {len(step.groups)}")
        self.table.show_group(group, reward_bounds(step))
        if self._focus.completion is not None:
            self.table.choose(self._focus.completion)
        self._numbers.setText(_numbers_text(group))
        self._show_check(group)

    # --- inside

    def _lay_out(self) -> None:
        place = QHBoxLayout()
        place.addWidget(self._answer, 1)
        place.addWidget(self._place)
        foot = QHBoxLayout()
        self._check_icon = IconMark(12)
        foot.addWidget(self._numbers, 1)
        foot.addWidget(self._check_icon)
        foot.addWidget(self._check)
        self.body.addWidget(self.prompt)
        self.body.addLayout(place)
        self.body.addWidget(self.table)
        self.body.addLayout(foot)

    def _lay_out_tokens(self) -> None:
        self._chosen_text = mono("")
        self._token_title = ElidedLabel("log-ratio per token", "hint")
        self._token_title.setToolTip(MEASURE_TOOLTIPS[TokenMeasure.LOG_RATIO])
        self._clipped = label("", "small", "Tokens of this completion that were clipped at the last inner update.")
        self.open_link = link("Open in Completions", tooltip="Show this completion among all that were sampled.")
        self.open_link.clicked.connect(self._open_chosen)
        self.tokens = TokenHeatMap()
        self._scroll = _scroll_of(self.tokens)
        title = QHBoxLayout()
        title.addWidget(self._token_title, 1)
        title.addWidget(self._clipped)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.open_link)
        self.body.addWidget(hline())
        self.body.addLayout(title)
        self.body.addWidget(self._scroll)
        self.body.addLayout(foot)

    def _show_check(self, group: GroupSample) -> None:
        total = math.fsum(completion.advantage for completion in group.completions)
        if not has_signal(group):
            set_look(self._check, "warn")
            self._check.setText("no signal")
            self._check.setToolTip("All rewards are equal, so every advantage is 0 and the group teaches nothing.")
            self._check_icon.show_icon("")
            return
        good = abs(total) < _SUM_TOLERANCE
        set_look(self._check, "small" if good else "warn")
        self._check.setText(f"sum {number(total)}")
        self._check.setToolTip("The advantages of a group that was rated completely sum to 0.")
        self._check_icon.show_icon(*(("check", "good") if good else ("warning", "warn")))

    def _show_tokens(self, completion: CompletionSample | None) -> None:
        self._completion = completion
        if completion is None:
            return
        values = token_values(completion)
        clipped = values.clipped_low() + values.clipped_high()
        self._clipped.setText(f"{clipped} clipped")
        is_recorded = len(values) > 0
        words = "log-ratio per token" if is_recorded else "its tokens were not recorded"
        self._token_title.setText(f"row {completion.index + 1}, {words}")
        self._clipped.setVisible(is_recorded)
        self._scroll.setVisible(is_recorded)
        self.tokens.show_values(values, TokenMeasure.LOG_RATIO, 0)
        self._fit_tokens()

    def _fit_tokens(self) -> None:
        wanted = self.tokens.heightForWidth(max(self._scroll.width(), 80))
        self._scroll.setFixedHeight(min(wanted, theme.px(_TOKENS_HEIGHT)))

    def _row_clicked(self) -> None:
        """A clicked completion stays, and so its step is marked on the curves."""
        self._focus.choose(self._focus.place)

    def _open_chosen(self) -> None:
        if self._completion is not None:
            self._open(self._completion)

    def _open(self, completion: CompletionSample) -> None:
        ref = self._focus.ref
        if ref is not None:
            self.completion_opened.emit(CompletionRef(ref, completion.index))

    def _hold_toggled(self, held: bool) -> None:
        if held != self._focus.held:
            self._focus.set_held(held)

    def _held_changed(self, held: bool) -> None:
        self.hold.setChecked(held)
        self._draw_icons()

    def _draw_icons(self) -> None:
        self.hold.setText("Held" if self._focus.held else "Hold")
        self.hold.setIcon(icons.icon("pinned" if self._focus.held else "pin", "softtext"))


def _numbers_text(group: GroupSample) -> str:
    rewards = [c.reward for c in group.completions if c.reward is not None and math.isfinite(c.reward)]
    mean = statistics.fmean(rewards) if rewards else None
    std = statistics.stdev(rewards) if len(rewards) > 1 else None
    return f"mean {number(mean)}   std {number(std)}   {distinct_count(group)} distinct"


def _scroll_of(widget: QWidget) -> QScrollArea:
    scroll = QScrollArea()
    scroll.setWidget(widget)
    scroll.setWidgetResizable(True)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return scroll
