"""Phosphor icons by meaning, coloured from the theme and rebuilt when it changes."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QSize
from PySide6.QtGui import QAction, QIcon, QPixmap

from grpo_gui.ui import theme
from grpo_gui.ui.glyphs import GlyphEngine

ICONS: dict[str, str] = {
    "train": "ph.chart-line",
    "completions": "ph.text-align-left",
    "router": "ph.git-fork",
    "settings": "ph.gear-six",
    "start": "ph.play-fill",
    "pause": "ph.pause-fill",
    "resume": "ph.play-fill",
    "step": "ph.skip-forward-fill",
    "stop": "ph.stop-fill",
    "again": "ph.arrow-clockwise",
    "database": "ph.database",
    "folder": "ph.folder-open",
    "file": "ph.file-text",
    "sort": "ph.sort-ascending",
    "compare": "ph.scales",
    "add": "ph.plus",
    "reverse": "ph.arrows-left-right",
    "mix": "ph.stack",
    "selected": "ph.check-circle-fill",
    "check": "ph.check",
    "remove": "ph.x",
    "search": "ph.magnifying-glass",
    "filter": "ph.funnel",
    "columns": "ph.columns",
    "pin": "ph.push-pin",
    "pinned": "ph.push-pin-fill",
    "follow": "ph.crosshair-simple",
    "plots": "ph.squares-four",
    "learning": "ph.trend-up",
    "health": "ph.heartbeat",
    "output": "ph.text-align-left",
    "warning": "ph.warning-fill",
    "error": "ph.warning-octagon-fill",
    "info": "ph.info",
    "good": "ph.check-circle",
    "down": "ph.caret-down",
    "up": "ph.caret-up",
    "right": "ph.caret-right",
    "left": "ph.caret-left",
    "panel": "ph.layout",
    "note": "ph.note-pencil",
    "curve": "ph.chart-line",
    "copy": "ph.copy",
    "keys": "ph.keyboard",
    "snapshots": "ph.camera",
    "snapshot": "ph.camera",
    "branch": "ph.git-branch",
    "export": "ph.export",
    "trash": "ph.trash",
    "best": "ph.trophy",
    "hand": "ph.hand",
    "base": "ph.cube",
    "damaged": "ph.warning",
    "keep": "ph.recycle",
    "blind": "ph.eye-slash",
    "play": "ph.play",
    "muted": "ph.bell-slash",
    "remedy": "ph.lightning",
    "back": "ph.arrow-left",
    "falling": "ph.trend-down",
    "fail": "ph.x-circle-fill",
    "unknown": "ph.minus-circle",
    "more": "ph.dots-three",
    "runs": "ph.list-dashes",
    "tag": "ph.tag",
    "archive": "ph.archive",
    "rename": "ph.pencil-simple",
    "restore": "ph.arrow-u-up-left",
    "rate": "ph.star",
    "flag": "ph.flag",
    "undo": "ph.arrow-counter-clockwise",
    "import": "ph.download-simple",
    "following": "ph.broadcast",
}
"""What an icon means -> its Phosphor name. Views name the meaning, never the font's name."""


def icon(name: str, color: str = "text2", disabled: str = "text3") -> QIcon:
    """Return the icon for a meaning of `ICONS`, drawn in a colour token of the current theme."""
    now = theme.current()
    return QIcon(GlyphEngine(ICONS[name], now.color(color), now.color(disabled)))


def pixmap(name: str, color: str = "text2", size: int = 16) -> QPixmap:
    """Return the icon as a picture of `size` design pixels."""
    side = theme.px(size)
    return icon(name, color).pixmap(QSize(side, side))


def keep_icon(owner: QObject, set_icon: Callable[[QIcon], None], name: str, color: str = "text2") -> None:
    """Hand `owner` the icon now and again after every change of theme, for as long as it lives."""
    theme.follow(owner, lambda: set_icon(icon(name, color)))


def set_action_icon(action: QAction, name: str, color: str = "text") -> None:
    """Give an action another icon; it follows the theme through one follower, however often it changes."""
    previous = action.property("icon_name")
    action.setProperty("icon_name", name)
    if previous is None:
        theme.follow(action, lambda: action.setIcon(icon(action.property("icon_name"), color)))
    elif previous != name:
        action.setIcon(icon(name, color))
