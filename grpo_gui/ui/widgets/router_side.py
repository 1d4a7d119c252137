"""Right of the map: how quality weighs against cost and time, the candidate network, the drift alarm."""

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSlider, QVBoxLayout, QWidget

from grpo_gui.router.rewards import TradeOff
from grpo_gui.ui import icons, theme
from grpo_gui.ui.formatting import number
from grpo_gui.ui.models import router_words
from grpo_gui.ui.router_engine import HASHED, Candidate, RouterOverview
from grpo_gui.ui.widgets.buttons import button, link
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import ElidedLabel, hline, label, set_look

_STEPS = 100
_MOST_COST, _MOST_TIME = 20.0, 1.0  # weights at the right ends; the square of the place, so that small ones are fine
_DIGITS = 2


class WeightSlider(QWidget):
    """A slider from 0 to `most`; `moved` gives the weight while it is dragged and at each key."""

    moved = Signal()

    def __init__(self, name: str, most: float, tooltip: str) -> None:
        super().__init__()
        self._most = most
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, _STEPS)
        self.slider.setPageStep(10)
        self.slider.setAccessibleName(f"Weight of {name}")
        self.slider.setToolTip(tooltip)
        self.value = label("", "value", tooltip)
        self.value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.value.setFixedWidth(theme.px(36))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        words = label(name, "label", tooltip)
        words.setFixedWidth(theme.px(32))
        for widget in (words, self.slider, self.value):
            row.addWidget(widget)
        self._exact = 0.0
        self.slider.valueChanged.connect(self._changed)
        self.show_weight(0.0)

    @property
    def weight(self) -> float:
        """The weight that it stands for."""
        return self._exact

    def show_weight(self, weight: float) -> None:
        """Show a weight, perhaps one beyond the slider's end, without `moved`."""
        self._exact = weight
        blocked = self.slider.blockSignals(True)
        self.slider.setValue(round(math.sqrt(weight / self._most) * _STEPS))
        self.slider.blockSignals(blocked)
        self.value.setText(number(weight, _DIGITS))

    def _changed(self, position: int) -> None:
        self._exact = round((position / _STEPS) ** 2 * self._most, 4)
        self.value.setText(number(self._exact, _DIGITS))
        self.moved.emit()


class RouterSide(Card):
    """`trade_off_moved` gives another weighing; the others are the buttons."""

    trade_off_moved = Signal(object)  # TradeOff
    promote_asked = Signal()
    roll_back_asked = Signal()
    run_asked = Signal()
    features_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.cost = WeightSlider("cost", _MOST_COST, "Reward lost for each unit of cost: quality − weight × cost.")
        self.time = WeightSlider("time", _MOST_TIME, "Reward lost for each second: quality − weight × seconds.")
        self.candidate = label("", "title")
        self.verdict = label("", "hint")
        self.gain = label("", "cardtitle")
        self.interval = ElidedLabel("", "label")
        self.sentence = label("", "hint", wrap=True)
        self.promote = button("Promote", tooltip="Let the candidate network decide.")
        self.roll_back = button("Roll back", tooltip="Let the policy before decide again.")
        self.policy = label("", "hint", wrap=True)
        self.run = link("Training curves", tooltip="Show rewards, clipping and KL of the network in the Train view.")
        self.features = link("", tooltip="What the network sees of a query; click to let it see otherwise.")
        self._drift_icon = QLabel()
        self.drift = label("", "value")
        self.drift_details = label("", "hint", wrap=True)
        self._drift_kind = "good"
        self._lay_out()
        for slider in (self.cost, self.time):
            slider.moved.connect(lambda: self.trade_off_moved.emit(TradeOff(self.cost.weight, self.time.weight)))
        self.promote.clicked.connect(self.promote_asked)
        self.roll_back.clicked.connect(self.roll_back_asked)
        self.run.clicked.connect(self.run_asked)
        self.features.clicked.connect(self.features_asked)
        theme.follow(self, self._draw_icon)

    def show_overview(self, overview: RouterOverview) -> None:
        """Show the router's numbers; a slider under the mouse is left alone."""
        trade_off = overview.trade_off
        for slider, weight in ((self.cost, trade_off.cost_weight), (self.time, trade_off.latency_weight)):
            if not slider.slider.isSliderDown():
                slider.show_weight(weight)
        self._show_candidate(overview.candidate, overview.mode)
        self.run.setVisible(overview.run_id is not None)
        decides = "The table of weights decides." if overview.policy == "table" else f"{overview.policy} decides."
        self.policy.setText(decides[:1].upper() + decides[1:])
        self.roll_back.setEnabled(overview.can_roll_back)
        self.roll_back.setToolTip(
            "Let the policy before decide again." if overview.can_roll_back else "No network decides; nothing to undo."
        )
        self._drift_kind, word, details = router_words.drift(overview.drift, overview.alarms)
        self.drift.setText(word)
        set_look(self.drift, "value" if self._drift_kind == "good" else self._drift_kind)
        self.drift_details.setText(details)
        self._draw_icon()

    def _show_candidate(self, candidate: Candidate, mode: str) -> None:
        judged = candidate.gain is not None
        self.verdict.setText("better" if candidate.is_better else "not yet better" if judged else "")
        self.gain.setVisible(judged)
        self.interval.setVisible(judged)
        self.gain.setText(number(candidate.gain, 3, sign=True))
        self.gain.setToolTip(
            "Doubly robust estimate of the candidate's mean reward less the active policy's, on the decisions that "
            "did not train it, with its 95 % interval."
        )
        low, high = number(candidate.gain_low, 3, sign=True), number(candidate.gain_high, 3, sign=True)
        self.interval.setText(f"{low} to {high}")
        self.sentence.setText(candidate.sentence)
        self.features.setText(f"Sees {candidate.features if candidate.features == HASHED else 'embeddings'}")
        obstacle = ""
        if not candidate.is_better:
            obstacle = "The candidate is not better for certain."
        elif mode != "learn":
            obstacle = "It takes over in the mode learn only."
        self.promote.setEnabled(not obstacle)
        self.promote.setToolTip(obstacle or "Let the candidate network decide.")

    def _draw_icon(self) -> None:
        name = "good" if self._drift_kind == "good" else "warning"
        self._drift_icon.setPixmap(icons.pixmap(name, self._drift_kind, 14))

    def _lay_out(self) -> None:
        self.candidate.setText("Candidate network")
        heading, gain, buttons, drift = QHBoxLayout(), QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        heading.addWidget(self.candidate)
        heading.addStretch(1)
        heading.addWidget(self.verdict)
        gain.setSpacing(8)
        gain.addWidget(self.gain)
        gain.addWidget(self.interval, 1)
        buttons.setSpacing(8)
        buttons.addWidget(self.promote)
        buttons.addWidget(self.roll_back)
        buttons.addStretch(1)
        drift.setSpacing(6)
        drift.addWidget(self._drift_icon)
        drift.addWidget(self.drift)
        drift.addStretch(1)
        column: QVBoxLayout = self.body
        column.setSpacing(6)
        column.addWidget(label("Quality against cost", "title"))
        column.addWidget(self.cost)
        column.addWidget(self.time)
        column.addWidget(label("Recomputes map and regret from the stored ratings.", "hint", wrap=True))
        column.addWidget(hline())
        column.addLayout(heading)
        column.addLayout(gain)
        column.addWidget(self.sentence)
        column.addLayout(buttons)
        column.addWidget(self.policy)
        column.addWidget(self.features)
        column.addWidget(self.run)
        column.addWidget(hline())
        column.addLayout(drift)
        column.addWidget(self.drift_details)
        column.addStretch(1)
