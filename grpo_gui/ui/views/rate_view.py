"""The Rate view: a person judges the answers of a group, and sees how training uses it. It lays out and connects."""

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from grpo_gui.store.records import RunRecord
from grpo_gui.ui import theme, tokens
from grpo_gui.ui.models.rating_desk import RatingDesk
from grpo_gui.ui.models.rating_session import Outcome
from grpo_gui.ui.models.rating_use import RatingUse
from grpo_gui.ui.models.rating_words import next_key, standing
from grpo_gui.ui.widgets.buttons import SegmentedControl
from grpo_gui.ui.widgets.empty_state import EmptyState
from grpo_gui.ui.widgets.opened_card import OpenedCard
from grpo_gui.ui.widgets.rate_cards import RateCards
from grpo_gui.ui.widgets.rate_files import RateFiles
from grpo_gui.ui.widgets.rate_head import RateHead
from grpo_gui.ui.widgets.rate_side import RateSide
from grpo_gui.ui.widgets.rate_strip import HELP, MODE, RateStrip
from grpo_gui.ui.workspace import Workspace

_SIDE_FROM = 1040  # width of the view; below, the right column becomes a tab
_REFRESH_MS = 1_500
_LEFT, _RIGHT = "rate", "use"
_NO_RUN = "No run is selected, so there is nothing to rate."
_KEYS = {
    Qt.Key.Key_Return: "Enter",
    Qt.Key.Key_Enter: "Enter",
    Qt.Key.Key_Space: "Space",
    Qt.Key.Key_Backspace: "Backspace",
    Qt.Key.Key_Escape: "Esc",
    Qt.Key.Key_Left: "Left",
    Qt.Key.Key_Right: "Right",
    Qt.Key.Key_Up: "Up",
    Qt.Key.Key_Down: "Down",
}
_SCROLL = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}


class RateView(QWidget):
    """Has the keyboard while it has the focus; the space bar skips here and does not pause the training."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._run_id = 0
        self._needed = 0  # height of all but the previous group, for the tallest group of the run so far
        self._shared: tuple[int, ...] = ()  # what the present heights were made for
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Rate")
        self.use = RatingUse(workspace)
        self.desk = RatingDesk(workspace, self.use)
        self.head = RateHead()
        self.cards = RateCards()
        self.strip = RateStrip()
        self.opened = OpenedCard()
        self.side = RateSide()
        self.files = RateFiles(workspace, self.desk, self)
        self.tabs = SegmentedControl([(_LEFT, "Rate"), (_RIGHT, "How ratings are used")], _LEFT, "Shown")
        self.empty = EmptyState(_NO_RUN, "Set up a run")
        self._timer = QTimer(self)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self._look)
        self._lay_out()
        self._connect()
        self._select(workspace.run)

    # --- keys

    def event(self, event: QEvent) -> bool:
        """Keep the keys of this view from the window's shortcuts."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self._wants(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Rate by keys."""
        if event.key() in _SCROLL:
            self.cards.scroll_pages(_SCROLL[Qt.Key(event.key())])
        elif _is_take_back(event):
            self.desk.take_back()
        elif self._wants(event):
            self._press(_key_name(event))
        else:
            super().keyPressEvent(event)

    def _wants(self, event: QKeyEvent) -> bool:
        return self._pages.currentIndex() == 0 and (bool(_key_name(event)) or _is_take_back(event))

    def _press(self, key: str) -> None:
        if key == HELP:
            self._workspace.keys_requested.emit()
        elif key == MODE and not (self.desk.session is not None and self.desk.session.is_flagging):
            self.head.next_mode()
        elif self.desk.press(key) is Outcome.NOTE and self.desk.session is not None:
            self.head.edit_note(self.desk.session.draft.state.note)

    # --- layout

    def _lay_out(self) -> None:
        upper = QWidget()
        column = QVBoxLayout(upper)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(tokens.GAP)
        column.addWidget(self.head)
        column.addWidget(self.cards, 1)
        column.addWidget(self.strip)
        self._rows = QSplitter(Qt.Orientation.Vertical)
        self._rows.setObjectName("rate-rows")
        self._columns = QSplitter(Qt.Orientation.Horizontal)
        self._columns.setObjectName("rate")
        for splitter, first, second, sizes in (
            (self._rows, upper, self.opened, (640, 160)),
            (self._columns, self._rows, self.side, (960, 312)),
        ):
            splitter.setHandleWidth(tokens.GAP)
            splitter.setChildrenCollapsible(False)
            splitter.addWidget(first)
            splitter.addWidget(second)
            splitter.setStretchFactor(0, 1)
            splitter.setSizes([theme.px(size) for size in sizes])
        self._bar = QWidget()
        bar = QHBoxLayout(self._bar)
        bar.setContentsMargins(0, 0, 0, 0)
        bar.addWidget(self.tabs)
        bar.addStretch(1)
        page = QWidget()
        outer = QVBoxLayout(page)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(tokens.GAP)
        outer.addWidget(self._bar)
        outer.addWidget(self._columns, 1)
        self._pages = QStackedWidget()
        self._pages.addWidget(page)
        self._pages.addWidget(self.empty)
        box = QVBoxLayout(self)
        box.setContentsMargins(tokens.GAP + 4, tokens.GAP + 4, tokens.GAP + 4, tokens.GAP)
        box.addWidget(self._pages)
        self.empty.sentence.setMinimumWidth(theme.px(320))
        self.setMinimumSize(theme.px(420), theme.px(300))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give up what does not fit."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        is_wide = self.width() >= theme.px(_SIDE_FROM)
        self._bar.setVisible(not is_wide)
        self._rows.setVisible(is_wide or self.tabs.value == _LEFT)
        self.side.setVisible(is_wide or self.tabs.value == _RIGHT)
        self._share_height()

    def _share_height(self) -> None:
        """Cards come first, then the previous group: as many of its rows as there is room for, or only its header.

        A height that a person chose stays until there is more or less to show.
        """
        around = self.head.sizeHint().height() + self.strip.sizeHint().height() + 2 * tokens.GAP
        self._needed = max(self._needed, around + self.cards.wanted_height)
        whole = self._rows.height() - self._rows.handleWidth()
        room = min(whole - self._needed, self.opened.full_height)
        shared = (whole, room, self.opened.isVisibleTo(self._rows))
        if shared == self._shared:
            return
        self._shared = shared
        self.opened.set_compact(room < self.opened.least_height)
        self._rows.setSizes([max(1, whole - room), max(1, room)])

    def showEvent(self, event: QShowEvent) -> None:
        """Read while it can be seen, and take the keyboard."""
        super().showEvent(event)
        self._timer.start()
        self._show_use()
        self._look()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def hideEvent(self, event: QHideEvent) -> None:
        """Rest while it cannot be seen."""
        super().hideEvent(event)
        self._timer.stop()

    # --- connections

    def _connect(self) -> None:
        desk, workspace = self.desk, self._workspace
        self.tabs.changed.connect(self._arrange)
        self.head.mode_chosen.connect(desk.judge_by)
        self.head.note_kept.connect(self._note_kept)
        self.cards.clicked.connect(desk.click)
        self.cards.scored.connect(desk.score)
        self.cards.flagged.connect(desk.flag)
        self.strip.pressed.connect(self._press)
        self.opened.undo_clicked.connect(desk.take_back)
        self.empty.clicked.connect(workspace.new_run_requested)
        desk.shown.connect(self._show_group)
        desk.judged.connect(self._show_judgement)
        desk.stored.connect(lambda: self.opened.show_stored(desk.is_stored))
        desk.looked.connect(self.side.show_picture)
        self.use.changed.connect(self._show_use)
        self.use.awaits_changed.connect(desk.reorder)
        self.side.mode_chosen.connect(self.use.set_mode)
        self.side.shrink_chosen.connect(self.use.set_shrink)
        self.side.continue_clicked.connect(self.use.go_on)
        self.side.export_clicked.connect(lambda: self.files.open_menu(self.side.export))
        self.side.import_clicked.connect(self.files.ask_what)
        self.files.told.connect(self.side.show_told)
        self.files.imported.connect(lambda: desk.set_run(self._run_id))
        workspace.run_selected.connect(self._select)
        workspace.settings_changed.connect(self._settings_changed)

    def _look(self) -> None:
        self.desk.look()
        self.side.show_waiting(self.use.waiting_text())

    def _show_use(self) -> None:
        self.side.show_use(self.use.rules, can_change=self.use.can_change, has_human=self.use.has_human)
        self.side.show_waiting(self.use.waiting_text())

    def _select(self, run: RunRecord | None) -> None:
        run_id = run.id if run is not None else 0
        self._pages.setCurrentIndex(0 if run_id else 1)
        if run_id != self._run_id:
            self._run_id, self._needed = run_id, 0
            self.opened.forget()
            self.desk.set_run(run_id)
        self._arrange()

    def _settings_changed(self, _: object) -> None:
        self.desk.set_run(self._run_id)  # what was said under another name is not this rater's to take back

    # --- showing

    def _show_group(self) -> None:
        desk = self.desk
        self.head.show_group(desk.current, desk.rater, self._missing(), desk.notice)
        self.cards.setVisible(desk.session is not None)
        self.head.filler.setVisible(desk.session is None)
        if desk.session is not None:
            self.cards.show_session(desk.session)
        self.opened.show_group(desk.opened, is_stored=desk.is_stored)
        self._show_judgement()

    def _show_judgement(self) -> None:
        desk = self.desk
        session = desk.session
        self.head.show_mode(desk.how)
        if session is None:
            self.head.show_group(None, desk.rater, self._missing(), "")
            self.strip.show_mode(desk.how, 0, can_submit=False)
            return
        self.head.show_words(next_key(session), standing(session.draft), session.draft.state.note)
        self.cards.refresh()
        self.strip.show_mode(desk.how, len(session.layout.slots), can_submit=session.draft.state.says_something)
        self._share_height()

    def _missing(self) -> str:
        """Why no group is on screen."""
        if self.desk.is_looking:
            return "Looking for groups to rate\u2026"
        run = self._workspace.run
        if run is not None and run.status.is_active:
            return "Every group is rated, or its answers are all alike. New ones appear here as the run samples them."
        return "Every group of this run is rated, or its answers are all alike."

    def _note_kept(self, note: str) -> None:
        self.desk.annotate(note)
        self.setFocus(Qt.FocusReason.OtherFocusReason)


def _key_name(event: QKeyEvent) -> str:
    """The name of a key that this view knows, empty for others."""
    if event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier):
        return ""
    known = _KEYS.get(Qt.Key(event.key()))
    if known is not None:
        return known
    text = event.text().upper()
    return text if len(text) == 1 and text.isascii() and text.isalnum() else ""


def _is_take_back(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_Z and event.modifiers() == Qt.KeyboardModifier.ControlModifier
