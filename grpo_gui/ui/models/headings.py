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
) -> object:
    """Answer a model's `headerData`: one name and one tooltip a column, and nothing at the rows."""
    if orientation is not Qt.Orientation.Horizontal:
        return None
    match role:
        case Qt.ItemDataRole.DisplayRole:
            return names[section]
        case Qt.ItemDataRole.ToolTipRole:
            return tooltips[section]
        case Qt.ItemDataRole.TextAlignmentRole:
            return alignment(section)
        case _:
            return None
