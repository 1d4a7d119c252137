"""The card with the snapshots of a run: what can be done with the chosen one, the table, and the keep-rule."""

from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QVBoxLayout

from grpo_gui.ui import icons, theme
from grpo_gui.ui.models.snapshot_reading import Shelf
from grpo_gui.ui.models.snapshot_row import SnapshotRow
from grpo_gui.ui.models.snapshot_table_model import size_text
from grpo_gui.ui.widgets.buttons import button, link
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.labels import ElidedLabel, hline, label
from grpo_gui.ui.widgets.overflow_row import OverflowRow
from grpo_gui.ui.widgets.snapshot_actions import SnapshotActions
from grpo_gui.ui.widgets.snapshot_table import SnapshotTable

_BUTTONS = (
    ("resume", "Resume", "play", "Go on with this run from the snapshot."),
    ("branch", "Branch", "branch", "Start a new run from the snapshot, with other settings."),
    ("export", "Export", "export", "Write a folder that transformers and other tools load."),
    ("pin", "Pin", "pin", "Keep it whatever the rule says (P)."),
    ("folder", "Folder", "folder", "Show the snapshot's files."),
    ("delete", "Delete", "trash", "Move the snapshot to the trash (Delete)."),
)


class SnapshotListCard(Card):
    """Buttons act on the row under the cursor."""

    def __init__(self, actions: SnapshotActions) -> None:
        super().__init__("Snapshots", padding=0)
        self._actions = actions
        self._revealed: Path | None = None
        self.table = SnapshotTable()
        self.buttons: dict[str, QPushButton] = {}
        self.superseded = link("", tooltip="Snapshots of steps that were replaced when the run was resumed.")
        self.rule = ElidedLabel("", "label")
        self.change = link("Change", tooltip="Keep more or fewer snapshots.")
        self.next = label("", "hint", "The snapshot that the next one will push out.")
        self.notice = ElidedLabel("", "label")
        self.show_result = link("Show", tooltip="Show the folder.")
        self._lay_out()
        self._connect()

    def show_shelf(self, shelf: Shelf | None, title: str) -> None:
        """Show what the card says of all snapshots."""
        self.header.title.setText(f"Snapshots of {title}" if title else "Snapshots")
        if shelf is None:
            self.header.set_hint("")
            self.rule.setText("")
            self.next.setText("")
            return
        some = f"{shelf.count} snapshot{'s' if shelf.count != 1 else ''}"
        self.header.set_hint(f"{some}, {size_text(shelf.disk_bytes)}" if shelf.count else "none yet")
        self.rule.setText(_rule_text(shelf))
        going = shelf.next_to_go
        superseded = " (superseded)" if going is not None and going.superseded else ""
        self.next.setText("" if going is None else f"next to go: step {going.step}{superseded}")
        shown = any(row.superseded for row in shelf.rows)
        self.superseded.setText("Hide superseded" if shown else f"{len(shelf.hidden)} superseded")
        self.superseded.setVisible(shown or bool(shelf.hidden))

    def show_row(self, row: SnapshotRow | None) -> None:
        """Enable what can be done with a snapshot; a tooltip says why something cannot."""
        actions = self._actions
        obstacles = {
            "resume": actions.against_resume(row),
            "branch": actions.against_branch(row),
            "export": actions.against_export(row),
            "pin": "" if row is not None and not row.is_base else "Choose a snapshot.",
            "folder": "" if row is not None and row.path is not None else "The base model is no snapshot.",
            "delete": "" if row is not None and not row.is_base else "The base model is no snapshot.",
        }
        for name, _, __, tooltip in _BUTTONS:
            self.buttons[name].setEnabled(not obstacles[name])
            self.buttons[name].setToolTip(obstacles[name] or tooltip)
        self._name_pin(row)

    def tell(self, sentence: str, folder: Path | None) -> None:
        """Show what was done, in place of the keep-rule until the next time."""
        self._revealed = folder
        self.notice.setText(sentence)
        self.notice.setVisible(bool(sentence))
        self.show_result.setVisible(folder is not None)
        for widget in (self.rule, self.change, self.next):
            widget.setVisible(not sentence)

    def _act(self, name: str) -> None:
        row = self.table.current_row
        if row is None or not self.buttons[name].isEnabled():
            return
        self.tell("", None)
        match name:
            case "resume":
                self._actions.resume(row)
            case "branch":
                self._actions.branch(row)
            case "export":
                self._actions.export(row)
            case "pin":
                self._actions.toggle_pin(row)
            case "folder":
                self._actions.show_folder(row)
            case _:
                self._actions.delete(row)

    def _open_menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        for mark in ("A", "B"):
            menu.addAction(f"Compare as {mark}").triggered.connect(
                lambda _=False, chosen=mark: self.table.marked.emit(chosen)
            )
        menu.addSeparator()
        for name, _, icon, _ in _BUTTONS:
            action = menu.addAction(self.buttons[name].text())
            action.setIcon(icons.icon(icon))
            action.setEnabled(self.buttons[name].isEnabled())
            action.triggered.connect(lambda _=False, chosen=name: self._act(chosen))
        menu.exec(position)
        menu.deleteLater()

    def _name_pin(self, row: SnapshotRow | None) -> None:
        pinned = row is not None and row.pinned
        self.buttons["pin"].setText("Unpin" if pinned else "Pin")
        self.buttons["pin"].setIcon(icons.icon("pinned" if pinned else "pin"))

    def _lay_out(self) -> None:
        self.header.setContentsMargins(12, 0, 8, 0)
        self.header.setFixedHeight(theme.px(44))
        for name, text, icon, tooltip in _BUTTONS:
            self.buttons[name] = button(text, icon, tooltip=tooltip)
        self.header.add_widget(OverflowRow(list(self.buttons.values())))
        mark = QLabel()
        theme.follow(mark, lambda: mark.setPixmap(icons.pixmap("keep", "text3", 14)))
        foot = QHBoxLayout()
        foot.setContentsMargins(12, 4, 12, 6)
        foot.setSpacing(8)
        foot.addWidget(mark)
        for widget in (self.notice, self.show_result, self.rule, self.change):
            foot.addWidget(widget)
        foot.addStretch(1)
        foot.addWidget(self.superseded)
        foot.addWidget(self.next)
        self.notice.hide()
        self.show_result.hide()
        self.superseded.hide()
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addWidget(hline())
        column.addWidget(self.table, 1)
        column.addWidget(hline())
        column.addLayout(foot)
        self.body.addLayout(column, 1)

    def _connect(self) -> None:
        for name in self.buttons:
            self.buttons[name].clicked.connect(lambda _=False, chosen=name: self._act(chosen))
        self.table.pin_toggled.connect(lambda: self._act("pin"))
        self.table.delete_asked.connect(lambda: self._act("delete"))
        self.table.menu_asked.connect(self._open_menu)
        self.change.clicked.connect(self._actions.change_rule)
        self.show_result.clicked.connect(self._show_result)
        self._actions.told.connect(self.tell)
        self.table.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def _show_result(self) -> None:
        if self._revealed is not None:
            self._actions.reveal(self._revealed)


def _rule_text(shelf: Shelf) -> str:
    if not shelf.count:
        return "None yet: one is made when the run ends or is stopped, and with Ctrl+S while it trains"
    last = shelf.rule.last
    return f"Keep the last {last}, the best, and what is pinned" if last else "Keep every snapshot until it is deleted"
