from grpo_gui.store.records import CompletionQuery
from grpo_gui.ui.models.completion_filters import SORTS, chips, cleared, is_filtered, with_fields, without


def labels(**fields):
    return [chip.label for chip in chips(CompletionQuery(run_id=1, **fields))]


def test_that_ranges_are_said_in_words():
    assert labels(min_step=150, max_step=200) == ["step 150 to 200"]
    assert labels(min_step=1_234_567) == ["step from 1234567"]
    assert labels(max_tokens=80) == ["80 tokens or shorter"]
    assert labels(min_tokens=3, max_tokens=3) == ["3 tokens"]
    assert labels(max_reward=0.5) == ["reward up to 0.5"]
    assert labels(min_reward=-1.0, max_reward=0.5) == ["reward -1 to 0.5"]


def test_that_every_other_filter_has_a_chip():
    assert labels(task="sort", correct=False, truncated=True) == ["task: sort", "wrong", "truncated"]
    assert labels(correct=True, truncated=False) == ["right", "ended by itself"]


def test_that_a_chips_cross_clears_only_its_own_fields():
    query = CompletionQuery(run_id=1, min_step=1, max_step=5, task="sort", search="9")
    left = without(query, chips(query)[0])
    assert left == CompletionQuery(run_id=1, task="sort", search="9")


def test_that_clearing_keeps_run_and_order():
    query = with_fields(CompletionQuery(run_id=3, sort="longest"), search="x", correct=True)
    assert is_filtered(query)
    assert cleared(query) == CompletionQuery(run_id=3, sort="longest")
    assert not is_filtered(cleared(query))


def test_that_every_order_of_the_view_is_known_to_the_store():
    from grpo_gui.store.completion_filters import SORT_ORDERS

    assert {value for value, _ in SORTS} == set(SORT_ORDERS)
