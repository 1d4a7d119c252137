import time

from grpo_gui.ui.lateness import INTERVAL_MS, LatenessMeter


def test_that_a_blocked_event_loop_is_measured(qapp, qtbot):
    meter = LatenessMeter()
    assert meter.p95_ms() == 0
    meter.start()
    qtbot.waitUntil(lambda: len(meter.values_ms) >= 2)
    end = time.perf_counter() + 0.2
    while time.perf_counter() < end:  # a slot that computes too long
        pass
    ticks = len(meter.values_ms)
    qtbot.waitUntil(lambda: len(meter.values_ms) > ticks)
    meter.stop()
    assert max(meter.values_ms) > 200 - 2 * INTERVAL_MS
    assert meter.p95_ms() <= max(meter.values_ms)


def test_that_the_p95_leaves_out_the_worst_twentieth(qapp):
    meter = LatenessMeter()
    meter.values_ms.extend([1.0] * 96 + [500.0] * 4)
    assert meter.p95_ms() == 1.0
