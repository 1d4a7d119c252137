from grpo_gui.diagnose.detectors.slow_disk import DETECTOR
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import watch


def test_that_less_than_two_snapshots_are_found():
    watched = watch(DETECTOR, steps=10, system__disk_free_gb=1.0, snapshot__size_gb=0.6)
    assert "nearly full" in watched.first[1].headline
    assert watch(DETECTOR, steps=10, system__disk_free_gb=2.0, snapshot__size_gb=0.6).names == []


def test_that_slow_writes_are_found():
    slow = lambda step: 300.0 if step % 20 == 0 else 5.0  # noqa: E731
    watched = watch(DETECTOR, steps=120, system__disk_free_gb=50.0, system__write_ms=slow)
    assert watched.first[0] == 104
    assert watch(DETECTOR, steps=120, system__disk_free_gb=50.0, system__write_ms=20.0).names == []


def test_that_it_must_be_recorded():
    assert watch(DETECTOR, steps=10, reward=1.0).reading("slow_disk") is Missing.NOT_RECORDED
