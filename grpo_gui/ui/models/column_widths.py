"""How wide each column of the Completions view is, and which columns make way where the list is narrow."""

from collections.abc import Collection

from grpo_gui.ui.models.completion_columns import Column

_WIDTHS = {
    Column.NUMBER: 40,
    Column.REWARD: 104,
    Column.HUMAN: 62,
    Column.ADVANTAGE: 114,
    Column.TOKENS: 60,
    Column.CLIPPED: 66,
    Column.KL: 66,
    Column.MARK: 42,
}
_FLAT_NUMBER = 92  # step, group and completion
_SHORT_BAR = 18  # what a bar gives up where the list is narrow
_TEXT_MINIMUM = {True: 190, False: 320}  # grouped, flat (prompt and completion share it)
_PROMPT_SHARE = 0.4
_GIVE_WAY = (Column.CLIPPED, Column.KL, Column.TOKENS, Column.MARK)  # the first goes first


def column_widths(
    available: int, *, grouped: bool, hidden: Collection[Column] = (), kept: Column | None = None
) -> dict[Column, int]:
    """Share `available` (in pixels of the design) among the columns; a column that is not in the answer is not shown.

    Where prompt and completion would get too little, bars become shorter, then columns give way; `kept`, the
    column that the list is sorted by, does not.
    """
    widths = {column: width for column, width in _WIDTHS.items() if column not in hidden}
    if not grouped:
        widths[Column.NUMBER] = _FLAT_NUMBER
    minimum = _TEXT_MINIMUM[grouped]
    if available - sum(widths.values()) < minimum:
        for column in (Column.REWARD, Column.ADVANTAGE):
            if column in widths:
                widths[column] -= _SHORT_BAR
    for column in _GIVE_WAY:
        if available - sum(widths.values()) < minimum and column != kept:
            widths.pop(column, None)
    rest = max(60, available - sum(widths.values()))
    if not grouped and Column.PROMPT not in hidden:
        widths[Column.PROMPT] = int(rest * _PROMPT_SHARE)
    widths[Column.TEXT] = rest - widths.get(Column.PROMPT, 0)
    return widths
