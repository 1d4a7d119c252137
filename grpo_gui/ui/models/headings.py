"""The header of a table: names of the columns, their definitions as tooltips, and to which side they lie."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt


def heading(
    section: int,
    orientation: Qt.Orientation,
    role: int,
    names: Sequence[str],
    tooltips: Sequence[str],
    alignment: Callable[[int], Qt.AlignmentFlag],
    order: tuple[int, bool] | None = None,
) -> object:
    """Answer a model's `headerData`: one name and one tooltip a column, and nothing at the rows.

    `order` is the column that the rows are sorted by, True for falling.
    """
    if orientation is not Qt.Orientation.Horizontal:
        return None
    match role:
        case Qt.ItemDataRole.DisplayRole:
            return sorted_name(names[section], None if order is None or order[0] != section else order[1])
        case Qt.ItemDataRole.ToolTipRole:
            return tooltips[section]
        case Qt.ItemDataRole.TextAlignmentRole:
            return alignment(section)
        case _:
            return None


def sorted_name(name: str, falling: bool | None) -> str:
    """The name of a column with an arrow where the rows are sorted by it (Qt would paint its own over the word)."""
    if falling is None:
        return name
    arrow = "\u2193" if falling else "\u2191"
    return f"{name} {arrow}".strip()
