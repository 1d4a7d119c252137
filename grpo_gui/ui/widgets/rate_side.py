"""The right column of the Rate view: how ratings are used, how far they are, and how good they are."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from grpo_gui.rating.progress import RatingRules
from grpo_gui.ui import icons, theme, tokens
from grpo_gui.ui.models.rating_side import Check, RatingPicture
from grpo_gui.ui.widgets.buttons import SegmentedControl, button, link
from grpo_gui.ui.widgets.labels import hline, label, set_look
from grpo_gui.ui.widgets.rate_progress import RateProgress
from grpo_gui.ui.widgets.tau_plot import TauPlot

MODES = (("wait", "Wait"), ("async", "Async"), ("offline", "Offline"))
_EXPLAINED = {
    "wait": "Each update waits until enough groups are rated, or until you go on without.",
    "async": "Training goes on meanwhile. Your term joins a later update, clipped against the stored log-probs.",
    "offline": "Rate stored groups now; an update takes them up when the run trains again.",
}
NO_HUMAN = (
    "The reward of this run has no human source, so it does not learn from ratings. They are kept, compared with the "
    "program below, and can be exported. A run with the reward \u201cRatings by hand\u201d learns from them."
)
SHRINK = "Trust me less while I contradict myself"
_SHRINK_TIP = (
    "The weight of your ratings is multiplied by c, which grows with how alike your answers to repeated groups are. "
    "Off: c is 1, and a rater who guesses weighs as much as one who does not."
)


class RateSide(QFrame):
    """`mode_chosen` and `shrink_chosen` only when a person chose."""

    mode_chosen = Signal(str)
    shrink_chosen = Signal(bool)
    continue_clicked = Signal()
    export_clicked = Signal()
    import_clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "card")
        self.setAccessibleName("How ratings are used")
        self.mode = SegmentedControl(MODES, "async", "How ratings are used")
        self.mode_text = label("", "label", wrap=True)
        self.waiting = label("", "warn", wrap=True)
        self.go_on = button("Continue without", tooltip="Let this update go on with the ratings that are there.")
        self.use_title = label("", "title", wrap=True)
        self.use_text = label("", "label", wrap=True)
        self.shrink = QCheckBox(SHRINK)
        self.progress = RateProgress()
        self.tau = TauPlot()
        self.checks = QGridLayout()
        self.export = link("Export\u2026", "export", tooltip="Write the ratings of this run to files.")
        self.import_ = link("Import\u2026", "import", tooltip="Take over ratings from a file of events.")
        self.told = label("", "label", wrap=True)
        self.told.hide()
        self._lines: list[tuple[QLabel, QLabel, QLabel]] = []
        self._lay_out()
        self.mode.changed.connect(self._mode_chosen)
        self.shrink.toggled.connect(self.shrink_chosen)
        self.go_on.clicked.connect(self.continue_clicked)
        self.export.clicked.connect(self.export_clicked)
        self.import_.clicked.connect(self.import_clicked)
        self.show_waiting("")
        self._mode_chosen(self.mode.value)

    def show_use(self, rules: RatingRules, *, can_change: bool, has_human: bool) -> None:
        """Show what holds now, without telling of a choice."""
        for widget in (self.mode, self.shrink):
            widget.blockSignals(True)
        self.mode.choose(rules.mode)
        self.shrink.setChecked(rules.shrinks)
        for widget in (self.mode, self.shrink):
            widget.blockSignals(False)
            widget.setEnabled(can_change)
            widget.setVisible(has_human)
        self.mode_text.setText(_EXPLAINED[rules.mode] if has_human else NO_HUMAN)
        self._next.setVisible(has_human)

    def show_waiting(self, sentence: str) -> None:
        """Say for what the trainer waits; empty when it does not."""
        self.waiting.setText(sentence)
        self.waiting.setVisible(bool(sentence))
        self.go_on.setVisible(bool(sentence))

    def show_picture(self, picture: RatingPicture) -> None:
        """Show how far the ratings are, what the next update will use, and how good they are."""
        progress = picture.progress
        self.use_title.setText(progress.headline)
        self.use_text.setText(progress.detail)
        self.progress.show_counts(
            {
                "used": progress.used,
                "rated": progress.rated,
                "waiting": progress.waiting,
                "expired": progress.expired,
            },
            progress.last_used_step,
            picture.pace,
        )
        self.tau.show_curve(picture.curve, has_program=picture.has_program)
        self._show_checks(picture.checks)

    def show_told(self, sentence: str, went_well: bool) -> None:
        """Say what came of an export or import."""
        self.told.setText(sentence)
        self.told.show()
        set_look(self.told, "label" if went_well else "bad")

    def _show_checks(self, checks: Sequence[Check]) -> None:
        while len(self._lines) < len(checks):
            self._add_line()
        for (sign, name, value), check in zip(self._lines, checks, strict=True):
            icon = {"good": "check", "warn": "warning", "plain": "more"}[check.state]
            color = {"good": "good", "warn": "warn", "plain": "text3"}[check.state]
            sign.setPixmap(icons.pixmap(icon, color, 12))
            name.setText(check.label)
            value.setText(check.value)
            set_look(value, "warn" if check.state == "warn" else "value")
            for widget in (sign, name, value):
                widget.setToolTip(check.tooltip)

    def _mode_chosen(self, mode: str) -> None:
        self.mode_text.setText(_EXPLAINED[mode])
        self.mode_chosen.emit(mode)

    def _add_line(self) -> None:
        row = len(self._lines)
        line = (QLabel(), label("", "label"), label("", "value"))
        line[2].setAlignment(Qt.AlignmentFlag.AlignRight)
        for column, widget in enumerate(line):
            self.checks.addWidget(widget, row, column)
        self._lines.append(line)

    def _lay_out(self) -> None:
        self.shrink.setToolTip(_SHRINK_TIP)
        self.checks.setContentsMargins(0, 0, 0, 0)
        self.checks.setHorizontalSpacing(8)
        self.checks.setVerticalSpacing(4)
        self.checks.setColumnStretch(1, 1)
        page = QWidget()
        page.setProperty("look", "page")
        column = QVBoxLayout(page)
        column.setContentsMargins(tokens.PAD + 4, tokens.PAD, tokens.PAD + 4, tokens.PAD)
        column.setSpacing(8)
        column.addWidget(label("How ratings are used", "title"))
        column.addWidget(self.mode)
        column.addWidget(self.mode_text)
        column.addWidget(self.waiting)
        column.addWidget(self.go_on, 0, Qt.AlignmentFlag.AlignLeft)
        self._next = self._next_update()
        column.addWidget(self._next)
        column.addWidget(self.shrink)
        for widget in (self.progress, self.tau):
            column.addSpacing(4)
            column.addWidget(hline())
            column.addSpacing(4)
            column.addWidget(widget)
        column.addSpacing(4)
        column.addWidget(hline())
        column.addSpacing(4)
        column.addWidget(label("Your consistency", "title"))
        column.addLayout(self.checks)
        column.addStretch(1)
        column.addWidget(hline())
        column.addLayout(self._out_and_in())
        column.addWidget(self.told)
        scroll = QScrollArea()
        scroll.setWidget(page)
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(1, 1, 1, 1)
        outer.addWidget(scroll)
        self.setMinimumWidth(theme.px(260))

    def _next_update(self) -> QFrame:
        box = QFrame()
        box.setProperty("look", "sunken")
        column = QVBoxLayout(box)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(2)
        column.addWidget(label("The next update will use", "hint"))
        column.addWidget(self.use_title)
        column.addWidget(self.use_text)
        return box

    def _out_and_in(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(label("Ratings", "label"))
        row.addStretch(1)
        row.addWidget(self.export)
        row.addWidget(self.import_)
        return row
