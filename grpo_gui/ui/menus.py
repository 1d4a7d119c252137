"""The menu bar: only entries that work."""

from collections.abc import Callable

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar

from grpo_gui.ui.transport import Transport

Entry = tuple[str, str, Callable[[], object]]  # text, keys or "", what it does


def fill_menus(bar: QMenuBar, transport: Transport, entries: dict[str, list[Entry | None]]) -> None:
    """Add the menus with their entries (None is a separator); the Run menu begins with the transport."""
    for title, lines in entries.items():
        menu = bar.addMenu(title)
        if title == "&Run":
            menu.addActions([transport.start, transport.pause, transport.step, transport.stop])
            menu.addSeparator()
            menu.addActions([transport.snapshot, transport.background])
        for line in lines:
            _add(menu, line)


def _add(menu: QMenu, line: Entry | None) -> None:
    if line is None:
        menu.addSeparator()
        return
    text, keys, function = line
    action = menu.addAction(text)
    if keys:
        action.setShortcut(QKeySequence(keys))
    action.triggered.connect(lambda _checked: function())
