"""The card of one finding: what is wrong in plain words, its measure, the samples that show it, and what to do."""

import inspect
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from grpo_gui.diagnose.detectors import DETECTORS
from grpo_gui.diagnose.finding import Finding, FindingState
from grpo_gui.diagnose.reading import Severity
from grpo_gui.ui import icons, theme
from grpo_gui.ui.formatting import count
from grpo_gui.ui.models.finding_words import COLORS, ICONS, TONES
from grpo_gui.ui.models.remedies import Remedy
from grpo_gui.ui.models.run_health import EMPTY_MEASURE, RunHealth
from grpo_gui.ui.plots.measure_plot import MeasurePlot
from grpo_gui.ui.plots.shared_axis import SharedAxis
from grpo_gui.ui.widgets.buttons import button, link
from grpo_gui.ui.widgets.flow_layout import FlowLayout
from grpo_gui.ui.widgets.labels import ElidedLabel, Pill, hline, label
from grpo_gui.ui.widgets.remedy_box import RemedyBox
from grpo_gui.ui.widgets.sample_rows import SampleLine, SampleRows

_PLOT_HEIGHT = 104
_LEAST_COLUMN = 220
_EDGE = 2  # pixels: the border, and a margin that keeps the inside off it
_NO_SAMPLES = "No single answers show it: it is in the numbers of the whole run."


class FindingCard(QFrame):
    """Shows one finding; the owner fills in samples and remedies and reacts to the buttons."""

    closed = Signal()
    grown = Signal()  # its words need another height than before
    mute_asked = Signal(str, bool)  # detector, muted
    other_asked = Signal(str)  # the detector of another finding: the root, or a symptom
    sample_asked = Signal(object)  # CompletionRef
    all_samples_asked = Signal(object)  # Finding
    remedy_asked = Signal(object)  # Remedy

    def __init__(self, axis: SharedAxis) -> None:
        super().__init__()
        self.setProperty("look", "card")
        self.finding: Finding | None = None
        self._is_muted = False
        self._icon, self.title, self.pill = label(), label("", "cardtitle"), Pill()
        self._since = label("", "hint")
        self.computed_link = link("How this is computed")
        self.computed_link.setCheckable(True)
        self.close_button = QPushButton()
        self.headline, self.detail = label("", "cardtitle", wrap=True), label("", "label", wrap=True)
        self.computed = label("", "hint", wrap=True)
        self._measure = ElidedLabel(look="small")
        self.plot = MeasurePlot(axis)
        self.causes = label("", "label", wrap=True)
        self.history = label("", "hint", wrap=True)
        self.root_link = link("")
        self._symptom_box = QWidget()
        self._symptoms = FlowLayout(8, self._symptom_box)
        self.samples = SampleRows()
        self._samples_title = label("Samples that show it", "title")
        self._no_samples = label(_NO_SAMPLES, "hint", wrap=True)
        self.all_link = link("All in Completions", tooltip="Show the completions since this began.")
        self.mute = button("Mute for this run", tooltip="Hear no more of this in this run; it can be taken back here.")
        self.remedy = RemedyBox(self.mute)
        self._lay_out()
        self._connect()

    def show_finding(self, finding: Finding, health: RunHealth) -> None:
        """Show a finding of a run, or the same one anew."""
        self.finding, self._is_muted = finding, finding.detector in health.muted
        self.title.setText(finding.title)
        state, kind = self._state()
        self.pill.set_state(state, kind)
        self._since.setText(f"since step {count(finding.onset)}")
        self._icon.setPixmap(icons.pixmap(ICONS[finding.severity], COLORS[finding.severity], 18))
        self.headline.setText(finding.headline)
        self.detail.setText(finding.detail)
        self.computed.setText(_computed(finding.detector))
        self._measure.setText(f"{finding.measure[0].upper()}{finding.measure[1:]}" if finding.measure else "")
        curve = health.curves.get(finding.detector, EMPTY_MEASURE)
        self.plot.show_measure(curve, finding.threshold, finding.onset, _line_color(finding.severity))
        self.causes.setText("\n".join(f"{place}  {cause}" for place, cause in enumerate(finding.causes, 1)))
        self._causes_title.setVisible(bool(finding.causes))
        story = "; ".join(f"step {count(one.step)} {one.text}" for one in finding.history)
        self.history.setText(f"History: {story}" if story else "")
        self._show_relations(finding, health)
        self.remedy.show_action(finding.action.sentence)
        self.mute.setText("Hear of it again" if self._is_muted else "Mute for this run")
        self.setAccessibleName(f"Finding: {finding.title}. {finding.headline}")
        self.grown.emit()

    def show_samples(self, lines: Sequence[SampleLine]) -> None:
        """Show the samples, once they are read."""
        self.samples.show_lines(tuple(lines))
        self._no_samples.setVisible(not lines)
        self.all_link.setVisible(bool(lines))
        self.grown.emit()

    def show_remedies(self, remedies: Sequence[Remedy], hint: str) -> None:
        """Show the buttons that can do something, or why there is none."""
        self.remedy.show_remedies(remedies, hint)
        self.grown.emit()

    def heightForWidth(self, width: int) -> int:
        """The height at which nothing has to be scrolled."""
        layout = self._page.layout()
        inside = 0 if layout is None else layout.heightForWidth(width - 2 * _EDGE)
        return inside + self._head.sizeHint().height() + 1 + 2 * _EDGE  # a line below the title

    # --- inside

    def _state(self) -> tuple[str, str]:
        finding = self.finding
        if finding is None:
            return "", "plain"
        if self._is_muted:
            return "muted", "plain"
        if finding.state is FindingState.CLOSED:
            return "closed", "good"
        if finding.state is FindingState.SYMPTOM:
            return "caused by another finding", "plain"
        return finding.severity.label, TONES[finding.severity]

    def _show_relations(self, finding: Finding, health: RunHealth) -> None:
        root = health.finding(finding.root) if finding.root else None
        self.root_link.setVisible(root is not None)
        if root is not None:
            self.root_link.setText(f"Caused by: {root.title.lower()}")
        while (item := self._symptoms.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        others = health.symptoms_of(finding.detector)
        if others:
            self._symptoms.addWidget(label("It also explains", "label"))
        for other in others:
            other_link = link(other.title.lower())
            other_link.clicked.connect(lambda _=False, name=other.detector: self.other_asked.emit(name))
            self._symptoms.addWidget(other_link)
        self._symptom_box.setVisible(bool(others))

    def _connect(self) -> None:
        self.close_button.clicked.connect(self.closed)
        self.computed_link.toggled.connect(self._show_computed)
        self.samples.opened.connect(self.sample_asked)
        self.remedy.chosen.connect(self.remedy_asked)
        self.all_link.clicked.connect(lambda: self.all_samples_asked.emit(self.finding))
        self.root_link.clicked.connect(self._root_asked)
        self.mute.clicked.connect(self._mute_clicked)
        escape = QShortcut(QKeySequence("Escape"), self)
        escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        escape.activated.connect(self.closed)

    def _root_asked(self) -> None:
        if self.finding is not None:
            self.other_asked.emit(self.finding.root)

    def _show_computed(self, shown: bool) -> None:
        self.computed.setVisible(shown)
        self.grown.emit()

    def _mute_clicked(self) -> None:
        if self.finding is not None:
            self.mute_asked.emit(self.finding.detector, not self._is_muted)

    def _lay_out(self) -> None:
        self.close_button.setProperty("look", "link")
        self.close_button.setAccessibleName("Close the finding")
        self.close_button.setToolTip("Show the plots again (Esc).")
        icons.keep_icon(self.close_button, self.close_button.setIcon, "remove", "text2")
        head = QHBoxLayout()
        head.setContentsMargins(14, 10, 10, 8)
        head.setSpacing(8)
        for widget in (self._icon, self.title, self.pill, self._since):
            head.addWidget(widget)
        head.addStretch(1)
        head.addWidget(self.computed_link)
        head.addWidget(self.close_button)
        self._head, self._page = head, QWidget()
        self._page.setProperty("look", "page")
        rows = QVBoxLayout(self._page)
        rows.setContentsMargins(14, 10, 14, 10)
        rows.setSpacing(6)
        columns = QHBoxLayout()
        columns.setSpacing(20)
        rows.addLayout(columns)
        for part in (self.root_link, self._symptom_box, self.history):
            rows.addWidget(part)
        rows.addStretch(1)
        for column_layout in (self._left(), self._right()):
            side = QWidget()
            side.setMinimumWidth(theme.px(_LEAST_COLUMN))
            side.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            column_layout.setContentsMargins(0, 0, 0, 0)
            side.setLayout(column_layout)
            columns.addWidget(side, 1)
        scroll = QScrollArea()
        scroll.setWidget(self._page)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(hline())
        column.addWidget(scroll, 1)

    def _left(self) -> QVBoxLayout:
        self.plot.setFixedHeight(theme.px(_PLOT_HEIGHT))
        self.computed.hide()
        self._causes_title = label("Likely causes", "title")
        left = QVBoxLayout()
        left.setSpacing(6)
        left.addWidget(self.headline)
        left.addWidget(self.detail)
        left.addWidget(self.computed)
        left.addWidget(self._measure)
        left.addWidget(self.plot)
        left.addWidget(self._causes_title)
        left.addWidget(self.causes)
        left.addStretch(1)
        return left

    def _right(self) -> QVBoxLayout:
        title = QHBoxLayout()
        title.addWidget(self._samples_title, 1)
        title.addWidget(self.all_link)
        right = QVBoxLayout()
        right.setSpacing(6)
        right.addLayout(title)
        right.addWidget(self.samples)
        right.addWidget(self._no_samples)
        right.addSpacing(6)
        right.addWidget(self.remedy)
        right.addStretch(1)
        return right


def _line_color(severity: Severity) -> str:
    return "warn" if severity is Severity.NOTE else COLORS[severity]


def _computed(detector: str) -> str:
    """How a detector computes, in the words of its documentation."""
    found = next((one for one in DETECTORS if one.name == detector), None)
    words = "" if found is None else inspect.getdoc(found.check) or ""
    hold = 0 if found is None else found.hold
    end = f" It must hold on {hold} readings in a row." if hold > 1 else ""
    return " ".join(words.split("Source:")[0].split()) + end
