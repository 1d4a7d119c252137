"""What stands beside the overlaid curves: differing settings, definitions, the same prompt, findings."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from grpo_gui.diagnose.finding import Finding
from grpo_gui.ui import theme
from grpo_gui.ui.models.run_overlay import OverlaidRun
from grpo_gui.ui.plots.overlay_layers import SWATCHES
from grpo_gui.ui.widgets.card import Card, CardHeader
from grpo_gui.ui.widgets.findings_list import FindingsList
from grpo_gui.ui.widgets.icon_mark import IconMark
from grpo_gui.ui.widgets.labels import ElidedLabel, hline, label
from grpo_gui.ui.widgets.legend import Legend, LegendEntry
from grpo_gui.ui.widgets.runs_answers import RunsAnswers
from grpo_gui.ui.widgets.runs_difference import RunsDifference

_MOST_FINDINGS = 3


class RunsSide(Card):
    """Four sections below each other; scrolls where they do not fit."""

    finding_opened = Signal(int, str)  # run id, detector

    def __init__(self) -> None:
        super().__init__("", padding=0)
        self.difference = RunsDifference()
        self.definitions = label("", "label", wrap=True)
        self.answers = RunsAnswers()
        self.findings: dict[int, FindingsList] = {}
        self._findings_box = QVBoxLayout()
        self._findings_box.setSpacing(4)
        self.findings_title = CardHeader("Findings")
        page = QWidget()
        page.setProperty("look", "page")
        column = QVBoxLayout(page)
        column.setContentsMargins(12, 6, 12, 12)
        column.setSpacing(10)
        column.addWidget(self.difference)
        column.addWidget(hline())
        column.addLayout(self._note())
        column.addWidget(hline())
        column.addWidget(self.answers)
        column.addWidget(hline())
        column.addWidget(self.findings_title)
        column.addLayout(self._findings_box)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(page)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        self.body.addWidget(scroll, 1)
        self.setMinimumWidth(theme.px(280))
        self.setAccessibleName("Comparison of the runs")

    def show_definitions(self, by_plot: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        """Say whether the curves of each plot measure the same; `by_plot` is title -> definition -> runs."""
        differing = [title for title, found in by_plot.items() if len(found) > 1]
        known = [title for title, found in by_plot.items() if found]
        if differing:
            text = (
                f"{', '.join(differing)}: the runs define this differently, so compare the course of the curves, "
                "not their levels."
            )
        elif known:
            text = "The curves of each plot use the same definition."
        else:
            text = "Curves whose definitions differ are marked."
        names = [f"{title}: {name}" for title, found in by_plot.items() for name in found]
        self.definitions.setText(text)
        self.definitions.setToolTip("\n".join(names))
        self._note_icon.show_icon(*(("warning", "warn") if differing else ("info", "text3")))

    def show_findings(
        self, runs: Sequence[OverlaidRun], findings: Mapping[int, tuple[tuple[Finding, ...], frozenset[str]]]
    ) -> None:
        """Show the newest findings of each run."""
        while (item := self._findings_box.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.findings = {}
        for overlaid in runs:
            self._findings_box.addWidget(_title(overlaid))
            if overlaid.run.id not in findings:
                self._findings_box.addWidget(label("Not looked for yet; open the run to have it diagnosed.", "hint"))
                continue
            some = FindingsList(_MOST_FINDINGS)
            some.show_findings(*findings[overlaid.run.id])
            some.opened.connect(lambda detector, run_id=overlaid.run.id: self.finding_opened.emit(run_id, detector))
            self.findings[overlaid.run.id] = some
            self._findings_box.addWidget(some)
        self.findings_title.set_hint("" if runs else "of the ticked runs")

    def _note(self) -> QHBoxLayout:
        self._note_icon = IconMark()
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._note_icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.definitions, 1)
        return row


def _title(overlaid: OverlaidRun) -> QWidget:
    result = QWidget()
    row = QHBoxLayout(result)
    row.setContentsMargins(0, 4, 0, 0)
    row.setSpacing(0)
    row.addWidget(Legend([LegendEntry("", overlaid.style.color, SWATCHES[overlaid.style.dash])]))
    row.addWidget(ElidedLabel(overlaid.title, "small"), 1)
    return result
