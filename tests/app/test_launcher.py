import pytest

from grpo_gui.app.launcher import Launcher
from grpo_gui.events import RunStatus
from grpo_gui.store.writer import StoreWriter
from grpo_gui.ui.event_pump import EventPump
from tests.ui.fakes import run_record


@pytest.fixture
def launcher(qapp, tmp_path):
    writer = StoreWriter.open(tmp_path / "runs.db")
    pump = EventPump()
    yield Launcher(tmp_path / "runs.db", writer, pump)
    pump.stop()
    writer.close()


@pytest.mark.parametrize(
    ("origin", "config", "is_steered"),
    [
        ("background", "{}", True),
        ("followed", '{"program": "bridge"}', True),
        ("followed", '{"program": "metrics"}', False),
        ("followed", '{"program": "trl"}', False),
        ("headless", "{}", True),
        ("router", "{}", False),
    ],
)
def test_that_only_those_runs_can_be_steered_whose_process_takes_commands(launcher, origin, config, is_steered):
    run = run_record(origin=origin, config=config, status=RunStatus.RUNNING)
    assert (launcher.attach(run) is not None) is is_steered
