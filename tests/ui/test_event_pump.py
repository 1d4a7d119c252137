from grpo_gui.events import RunStatus, TrainerStatus
from grpo_gui.ui.event_pump import EventPump, TeeSink
from tests.ui.fakes import step_completed


def collect(pump):
    batches = []
    pump.batch.connect(batches.append)
    return batches


def test_that_all_waiting_events_arrive_as_one_batch_in_order(qapp):
    pump = EventPump()
    batches = collect(pump)
    events = [TrainerStatus(1, RunStatus.RUNNING, 0), step_completed(step=1), step_completed(step=2)]
    for event in events:
        pump.put(event)
    pump.drain()
    assert batches == [events]


def test_that_an_empty_queue_emits_nothing(qapp):
    pump = EventPump()
    batches = collect(pump)
    pump.drain()
    assert batches == []


def test_that_a_lagging_window_loses_the_oldest_steps_only_and_is_told(qapp, qtbot):
    pump = EventPump(max_queued_steps=2)
    batches = collect(pump)
    status = TrainerStatus(1, RunStatus.RUNNING, 0)
    pump.put(step_completed(step=1))
    pump.put(status)
    for step in (2, 3, 4):
        pump.put(step_completed(step=step))
    with qtbot.waitSignal(pump.lagged):
        pump.drain()
    assert [event.step for event in batches[0]] == [0, 3, 4]
    assert batches[0][0] is status


def test_that_the_timer_delivers_events_put_from_another_thread(qapp, qtbot):
    import threading

    pump = EventPump(interval_ms=1)
    pump.start()
    thread = threading.Thread(target=pump.put, args=(step_completed(),))
    with qtbot.waitSignal(pump.batch) as caught:
        thread.start()
    thread.join()
    pump.stop()
    assert caught.args[0][0].step == 1


class Store:
    """Keeps events, and has a reason to wait."""

    def __init__(self):
        self.kept = []
        self.emit = self.kept.append

    def congestion(self):
        return "The disk is full."

    def flush(self, timeout_s):
        return timeout_s > 1

    def write_ms(self):
        return 7.0


def test_that_the_tee_hands_each_event_to_store_and_window_and_asks_the_store_about_waiting():
    store, shown = Store(), []
    sink = TeeSink(store, shown.append)
    event = step_completed()
    sink.emit(event)
    assert store.kept == shown == [event]
    assert sink.congestion() == "The disk is full."
    assert (sink.flush(2.0), sink.flush(0.5)) == (True, False)
    assert sink.write_ms() == 7.0
