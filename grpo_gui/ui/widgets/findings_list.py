"""Findings below each other: icon, title, what it is or what causes it, and since when. For a column or a page."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QVBoxLayout, QWidget

from grpo_gui.diagnose.finding import Finding, FindingState
from grpo_gui.ui import icons, theme
from grpo_gui.ui.models.finding_words import COLORS, ICONS, all_in_order, row_words
from grpo_gui.ui.models.run_health import RunHealth
from grpo_gui.ui.widgets.labels import label

_ROW_HEIGHT = 42
_NONE = "Nothing was found so far."


class FindingsList(QWidget):
    """One row a finding; `opened` names the detector of a chosen one."""

    opened = Signal(str)

    def __init__(self, most: int | None = None) -> None:
        """`most` rows are shown; None shows all."""
        super().__init__()
        self._most = most
        self._chosen = ""
        self.rows: list[FindingRow] = []
        self.none = label(_NONE, "hint", wrap=True)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.none)

    def show_findings(self, findings: Sequence[Finding], muted: frozenset[str]) -> None:
        """Show the findings of a run that is not watched."""
        self.show_health(RunHealth(0, findings=tuple(findings), muted=muted))

    def show_health(self, health: RunHealth, chosen: str = "") -> None:
        """Show the findings of a run; `chosen` is the one whose card is open."""
        findings = all_in_order(health)[: self._most]
        while len(self.rows) < len(findings):
            row = FindingRow()
            row.clicked.connect(self._clicked)
            self.rows.append(row)
            self._column.addWidget(row)
        for place, row in enumerate(self.rows):
            row.setVisible(place < len(findings))
            if place < len(findings):
                one = findings[place]
                row.show_finding(one, *row_words(one, health), is_muted=one.detector in health.muted)
                row.set_chosen(one.detector == chosen)
        self.none.setVisible(not findings)

    def _clicked(self) -> None:
        row = self.sender()
        if isinstance(row, FindingRow):
            self.opened.emit(row.detector)


class FindingRow(QAbstractButton):
    """Two lines that can be clicked, or chosen with the space bar."""

    def __init__(self) -> None:
        super().__init__()
        self.detector = ""
        self._words = ("", "", "")
        self._icon, self._color = "info", "text2"
        self._is_chosen = False
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.follow(self, self.update)

    def show_finding(self, finding: Finding, second: str, right: str, *, is_muted: bool) -> None:
        """Show another finding, or the same one anew."""
        is_over = finding.state is FindingState.CLOSED
        self.detector = finding.detector
        self._words = finding.title, second, right
        self._icon, self._color = ICONS[finding.severity], COLORS[finding.severity]
        if is_over:
            self._icon, self._color = "good", "good"
        elif is_muted:
            self._icon, self._color = "muted", "text3"
        elif finding.state is FindingState.SYMPTOM:
            self._icon, self._color = "info", "text2"
        self.setAccessibleName(f"{finding.title}, {right}: {second}")
        self.setToolTip(finding.headline)
        self.update()

    def set_chosen(self, chosen: bool) -> None:
        """Mark the row whose card is open."""
        if chosen != self._is_chosen:
            self._is_chosen = chosen
            self.update()

    def sizeHint(self) -> QSize:
        """Two lines."""
        return QSize(theme.px(220), theme.px(_ROW_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        """Text gives way."""
        return QSize(theme.px(120), theme.px(_ROW_HEIGHT))

    def paintEvent(self, _: QPaintEvent) -> None:
        """Draw icon, title, the word at the right, and the second line."""
        now, painter = theme.current(), QPainter(self)
        box = self.rect().adjusted(2, 1, -2, -1)
        if self._is_chosen or self.underMouse():
            painter.fillRect(box, now.color("soft" if self._is_chosen else "sunken"))
        if self.hasFocus():
            painter.setPen(now.color("accent"))
            painter.drawRect(box.adjusted(0, 0, -1, -1))
        side, left = theme.px(14), theme.px(24)
        painter.drawPixmap(box.left() + theme.px(5), box.top() + theme.px(5), icons.pixmap(self._icon, self._color, 14))
        height = (box.height() - theme.px(6)) // 2
        first = QRect(box.left() + left, box.top() + theme.px(3), box.width() - left - theme.px(6), height)
        title, second, right = self._words
        painter.setFont(theme.font(11))
        painter.setPen(now.color("text2"))
        width = painter.fontMetrics().horizontalAdvance(right)
        painter.drawText(first, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, right)
        _draw(painter, first.adjusted(0, 0, -width - side // 2, 0), title, "text", 600)
        _draw(painter, first.translated(0, height), second, "text2", 400)


def _draw(painter: QPainter, box: QRect, text: str, color: str, weight: int) -> None:
    painter.setFont(theme.font(12, weight))
    painter.setPen(theme.current().color(color))
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)
