"""The box that shows the selected run and opens the history."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QComboBox, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from grpo_gui.store.records import RunRecord
from grpo_gui.ui import theme
from grpo_gui.ui.run_text import run_detail, run_title
from grpo_gui.ui.workspace import Workspace

RUN_ID = Qt.ItemDataRole.UserRole
DETAIL = Qt.ItemDataRole.UserRole + 1
NEW_RUN = -1
_USUAL, _SHORT = 234, 160  # pixels wide


class RunSelector(QComboBox):
    """All runs, newest first, under an entry that opens the form for a new one."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.setAccessibleName("Selected run")
        self.setToolTip("The run that the window shows. The list holds every run of this database.")
        self.setItemDelegate(_RunDelegate(self))
        self.setMaxVisibleItems(24)
        self.setPlaceholderText("no run yet")
        self.set_short(short=False)
        self.view().setMinimumWidth(theme.px(420))
        self.activated.connect(self._chosen)
        workspace.runs_changed.connect(self._show_runs)
        workspace.run_selected.connect(self._show_selected)
        workspace.run_updated.connect(self._show_selected)
        self._show_runs(workspace.runs)

    def set_short(self, *, short: bool) -> bool:
        """Take less room, or the usual; True when that is another one than before."""
        before, width = self.maximumWidth(), theme.px(_SHORT if short else _USUAL)
        self.setFixedWidth(width)
        return width != before

    def _show_runs(self, runs: list[RunRecord]) -> None:
        if self.view().isVisible():
            return  # a list that changes under the pointer would lead to a wrong choice
        self.blockSignals(True)
        self.clear()
        if runs:
            self.addItem("New run\u2026", NEW_RUN)
        selected = self._workspace.run
        for run in runs:
            if run.archived and (selected is None or selected.id != run.id):
                continue  # the Runs view lists the archive
            self.addItem(run_title(run), run.id)
            self.setItemData(self.count() - 1, run_detail(run), DETAIL)
        self.blockSignals(False)
        self.setPlaceholderText("new run" if runs else "no run yet")
        self._show_selected(self._workspace.run)

    def _show_selected(self, run: RunRecord | None) -> None:
        position = -1 if run is None else self.findData(run.id, RUN_ID)
        if self.currentIndex() != position:
            self.setCurrentIndex(position)
        if run is not None and position >= 0:
            self.setItemText(position, run_title(run))
            self.setItemData(position, run_detail(run), DETAIL)

    def _chosen(self, position: int) -> None:
        run_id = self.itemData(position, RUN_ID)
        if run_id == NEW_RUN:
            self._workspace.new_run_requested.emit()
            self._show_selected(self._workspace.run)
        else:
            self._workspace.select_run(run_id)


class _RunDelegate(QStyledItemDelegate):
    """A run's title at the left, its state and start at the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Rows as high as the lists'."""
        return QSize(super().sizeHint(option, index).width(), theme.px(26))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw ground, title and detail."""
        now = theme.current()
        painter.save()
        try:
            chosen = bool(option.state & QStyle.StateFlag.State_Selected)
            if chosen:
                painter.fillRect(option.rect, now.color("soft"))
            row = option.rect.adjusted(8, 0, -8, 0)
            detail = index.data(DETAIL) or ""
            painter.setFont(theme.font(11))
            painter.setPen(now.color("softtext" if chosen else "text3"))
            painter.drawText(row, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, detail)
            taken = painter.fontMetrics().horizontalAdvance(detail) + 16
            painter.setFont(theme.font(12))
            painter.setPen(now.color("softtext" if chosen else "text"))
            title = painter.fontMetrics().elidedText(
                str(index.data() or ""), Qt.TextElideMode.ElideRight, row.width() - taken
            )
            painter.drawText(row, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, title)
        finally:
            painter.restore()
