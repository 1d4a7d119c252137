import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.tau import GroupTau, TauPoint, audit_taus, group_tau, kendall_tau, tau_curve
from tests.rating.entries import entry, group, ref

VALUES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8)


def test_that_tau_is_the_one_worked_out_by_hand():
    assert kendall_tau((1, 2, 3), (1, 2, 3)) == 1
    assert kendall_tau((1, 2, 3), (3, 2, 1)) == -1
    # pairs: (0,1) alike, (0,2) alike, (1,2) opposite: (2 - 1) / 3
    assert kendall_tau((1, 2, 3), (1, 3, 2)) == pytest.approx(1 / 3)
    # one tie in the second: 2 concordant of sqrt(3 * 2)
    assert kendall_tau((1, 2, 3), (1, 2, 2)) == pytest.approx(2 / 6**0.5)


def test_that_without_any_order_there_is_no_tau():
    assert kendall_tau((1, 1, 1), (1, 2, 3)) is None
    assert kendall_tau((1,), (2,)) is None


@given(VALUES)
def test_that_tau_is_symmetric_bounded_and_turns_its_sign_with_one_order(values):
    first, second = zip(*values, strict=True)
    tau = kendall_tau(first, second)
    assert tau == kendall_tau(second, first)
    if tau is not None:
        assert -1 - 1e-12 <= tau <= 1 + 1e-12
        assert kendall_tau([-value for value in first], second) == pytest.approx(-tau)


def test_that_only_completions_with_both_opinions_are_compared():
    assert group_tau((1, None, 2, 3), (5, 9, 6, None), range(4)) == 1


def test_that_only_the_audit_sample_counts_and_only_in_its_order():
    groups = [group(step, program=(1, 2, 3, 4)) for step in (1, 2, 3)]
    log = RatingLog(
        [
            entry(1, values=(4, 3, 2, 1), group=ref(3), is_audit=True),
            entry(2, values=(1, 2, 3, 4), group=ref(1), is_audit=True),
            entry(3, values=(1, 2, 3, 4), group=ref(2)),
        ]
    )
    taus = audit_taus(log, {one.ref: one for one in groups})
    assert taus == [GroupTau(1, 1.0), GroupTau(3, -1.0)]


def test_that_the_curve_is_a_moving_mean_with_its_interval():
    points = tau_curve([GroupTau(1, 1.0), GroupTau(5, 0.0)])
    assert points[0] == TauPoint(1, 1.0, 1.0, 1.0)
    half = 1.2816 * 0.5**0.5 / 2**0.5
    assert points[1] == TauPoint(5, 0.5, pytest.approx(0.5 - half), pytest.approx(min(1, 0.5 + half)))
