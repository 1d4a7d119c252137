from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.router.shadows import THIS_POLICY, RegretCurves
from grpo_gui.ui.models.regret_picture import STYLES, end_labels, leaves, summary, useful_top


def curves(**ends):
    named = {
        THIS_POLICY if name == "this_policy" else name: np.linspace(end / 10, end, 10) for name, end in ends.items()
    }
    return RegretCurves(tuple(range(1, 11)), named)


def test_that_random_does_not_stretch_the_plot():
    top = useful_top(curves(random=1355.0, this_policy=224.0, ucb1=217.0).curves)
    assert 224 < top < 300
    assert leaves(np.array([1355.0]), top)


def test_that_random_is_labelled_inside_when_it_is_no_worse_than_others():
    shown = curves(random=10.0, this_policy=12.0)
    labels = end_labels(shown, useful_top(shown.curves), 0.05)
    assert [label.text for label in labels] == ["random 10.0", "this policy 12.0"]


def test_that_the_lowest_label_comes_first_and_names_its_value():
    shown = curves(this_policy=224.4, ucb1=217.0, thompson=243.0)
    labels = end_labels(shown, 300.0, 0.01)
    assert [label.text for label in labels] == ["UCB1 217", "this policy 224", "Thompson 243"]


@given(st.lists(st.floats(0, 100), min_size=6, max_size=6))
def test_that_labels_never_overlap_nor_leave_the_plot(ends):
    shown = RegretCurves((1,), {name: np.array([end]) for name, end in zip(STYLES, ends, strict=True)})
    labels = end_labels(shown, useful_top(shown.curves), 0.1)
    places = [label.place for label in labels]
    assert all(second - first >= 0.1 - 1e-9 for first, second in pairwise(places))
    assert all(-1e-9 <= place <= 1 + 1e-9 for place in places)


def test_that_nothing_rated_draws_nothing():
    nothing = RegretCurves((), {name: np.zeros(0) for name in STYLES})
    assert useful_top(nothing.curves) == 1.0
    assert end_labels(nothing, 1.0, 0.1) == ()
    assert summary(nothing) == "Regret: nothing is rated yet"


def test_that_the_summary_names_every_curve_this_policy_first():
    text = summary(curves(**{name.replace(" ", "_"): 1.0 + place for place, name in enumerate(STYLES)}))
    assert text.startswith("Regret after 10 rated decisions: this policy 6.0, Thompson 5.0")
    assert "random 1.0" in text


@pytest.mark.parametrize("name", list(STYLES))
def test_that_no_two_curves_share_colour_and_dash(name):
    mine = STYLES[name]
    others = [style for other, style in STYLES.items() if other != name]
    assert all((mine.color, mine.dash) != (style.color, style.dash) for style in others)
