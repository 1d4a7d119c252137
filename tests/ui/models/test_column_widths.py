import pytest

from grpo_gui.ui.models.column_widths import column_widths
from grpo_gui.ui.models.completion_columns import Column


@pytest.mark.parametrize("available", [500, 694, 722, 900, 1400])
@pytest.mark.parametrize("grouped", [True, False])
def test_that_the_columns_fill_the_list_and_no_more(available, grouped):
    assert sum(column_widths(available, grouped=grouped).values()) == available


def test_that_every_column_is_there_where_there_is_room():
    assert set(column_widths(1400, grouped=False)) == set(Column)
    assert set(column_widths(1400, grouped=True)) == set(Column) - {Column.PROMPT}


def test_that_clipped_makes_way_first_unless_the_list_is_sorted_by_it():
    narrow = column_widths(694, grouped=False)
    assert Column.CLIPPED not in narrow
    assert Column.REWARD in narrow
    assert Column.CLIPPED in column_widths(694, grouped=False, kept=Column.CLIPPED)


def test_that_a_hidden_column_gives_its_room_to_the_text():
    full, less = column_widths(1000, grouped=True), column_widths(1000, grouped=True, hidden={Column.KL})
    assert less[Column.TEXT] == full[Column.TEXT] + full[Column.KL]
