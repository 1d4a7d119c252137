from grpo_gui.diagnose.detectors.stale_export import DETECTOR
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import watch


def test_that_an_export_without_change_is_found():
    change = lambda step: 0.0 if step == 3 else 0.01  # noqa: E731
    assert watch(DETECTOR, steps=4, snapshot__size_gb=0.1, snapshot__weights_change=change).first[0] == 3


def test_that_a_reload_with_other_answers_is_found():
    watched = watch(
        DETECTOR, steps=2, snapshot__size_gb=0.1, snapshot__weights_change=0.01, snapshot__reload_error=1e-3
    )
    assert "0.001" in watched.first[1].detail
    assert (
        watch(
            DETECTOR, steps=2, snapshot__size_gb=0.1, snapshot__weights_change=0.01, snapshot__reload_error=1e-6
        ).names
        == []
    )


def test_that_it_must_be_recorded():
    assert watch(DETECTOR, steps=2, reward=1.0).reading("stale_export") is Missing.NOT_RECORDED


def test_that_the_first_snapshot_is_judged_by_its_reload_alone():
    assert watch(DETECTOR, steps=1, snapshot__size_gb=0.1, snapshot__reload_error=1e-3).names == ["stale_export"]
    assert watch(DETECTOR, steps=1, snapshot__size_gb=0.1, snapshot__reload_error=0.0).names == []


def test_that_a_snapshot_without_measures_is_not_judged_by_those_of_an_older_one():
    watched = watch(DETECTOR, steps=2, snapshot__size_gb=0.1, snapshot__reload_error=[1e-6])
    assert watched.reading("stale_export") is Missing.NOT_RECORDED
