"""The Router view with the real engine: from an empty database to a preference that outlives the window."""

from tests.app.test_desktop import DRIVER

# Asks and rates by the keys of the view, one step of the driver after the other.
ROUTER = (
    DRIVER
    + """
import random
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

def view(desk):
    return desk.session.window.pages.currentWidget()

def show(desk):
    desk.session.window.show_view("router")

def has_overview(desk):
    return view(desk).desk.overview is not None

def ask(query):
    def do(desk):
        field = view(desk).query.field
        field.selectAll()
        QTest.keyClicks(field, query)
        QTest.keyClick(field, Qt.Key.Key_Return)
    return do

def is_answered(desk):
    board = view(desk).desk.board
    return not view(desk).desk.is_waiting and board is not None and board.is_complete and not board.is_submitted

def rate(desk):
    board = view(desk).desk.board
    right = "".join(sorted(board.decided.query.split()[-1]))
    for answer in board.answers:
        is_right = answer.text.strip().replace(" ", "") == right
        QTest.keyClick(view(desk).answers, Qt.Key.Key_5 if is_right else Qt.Key.Key_1)
    QTest.keyClick(view(desk).answers, Qt.Key.Key_Return)

def is_rated(count):
    return lambda desk: view(desk).desk.overview.ratings == 3 * count

def tell(desk):
    overview = view(desk).desk.overview
    weights = overview.weights
    print([round(weight, 9) for weight in weights.weights[weights.classes.index("sort")]])
    print(view(desk).choice.table.choices.rows[0].model)
    print(view(desk).learned.regret.plot.accessibleDescription().split(":")[0])
    desk.session.window.close()

def explained(desk):
    rows = view(desk).choice.table.choices.rows
    return bool(rows) and rows[0].known is not None and rows[0].known.ratings > 0
"""
)


def test_that_the_router_learns_to_prefer_the_right_expert_and_still_does_after_a_restart(run_python):
    taught = run_python(
        ROUTER
        + """
def begin(desk):
    view(desk).empty.action.click()

def has_models(desk):
    return len(view(desk).desk.overview.models) == 3

rng = random.Random(3)
queries = ["Sort the digits: " + "".join(rng.choice("0123456789") for _ in range(7)) for _ in range(10)]
rounds = []
for count, query in enumerate(queries, 1):
    rounds += [(is_rated(count - 1), ask(query)), (is_answered, rate)]

drive("a.db", (is_open, show), (has_overview, begin), (has_models, lambda desk: None), *rounds,
    (is_rated(len(queries)), ask("Sort the digits: 41")), (explained, lambda desk: None), (is_answered, tell))
"""
    )
    weights, best, regret = taught.splitlines()
    assert best == "sort expert"
    assert regret == "Regret after 10 rated decisions"
    again = run_python(
        ROUTER
        + """
def type_query(desk):
    QTest.keyClicks(view(desk).query.field, "Sort the digits: 52")

drive("a.db", (is_open, show), (has_overview, type_query), (explained, tell))
"""
    )
    assert again.splitlines() == [weights, best, regret]
