from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.ui.models.token_flow import flow


def test_that_cells_fill_a_line_and_go_on_in_the_next():
    cells = flow([40, 40, 40], [False] * 3, 100)
    assert [cell.line for cell in cells.cells] == [0, 0, 1]
    assert cells.starts == (0, 2)


def test_that_a_line_end_starts_a_new_line():
    assert [cell.line for cell in flow([10, 10, 10], [True, False, False], 100).cells] == [0, 1, 1]


def test_that_a_place_finds_its_token_and_a_gap_none():
    cells = flow([40, 40], [False, False], 100)
    assert cells.at(5, 0) == 0
    assert cells.at(45, 0) == 1
    assert cells.at(95, 0) is None
    assert cells.at(5, 3) is None


def test_that_up_and_down_go_to_the_nearest_token():
    cells = flow([30, 30, 30, 50, 30], [False, False, True, False, False], 100)
    assert cells.beside(4, -1) == 2
    assert cells.beside(0, 1) == 3
    assert cells.beside(0, -1) == 0


@given(st.lists(st.tuples(st.floats(1, 300), st.booleans()), max_size=40), st.floats(20, 200))
def test_that_no_cell_leaves_the_width_and_every_token_is_in_one_line(cells, width):
    result = flow([w for w, _ in cells], [b for _, b in cells], width)
    assert all(cell.x + cell.width <= width + 1e-9 for cell in result.cells)
    assert [t for line in range(result.lines) for t in result.tokens_of(line)] == list(range(len(cells)))
