"""The number on the rail where a person is awaited, and the keys of the view on screen."""

import pytest

from grpo_gui.events import RunStatus, TrainerStatus
from grpo_gui.settings import Settings
from grpo_gui.store.reader import StoreReader
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.ui.background_tasks import BackgroundTasks
from grpo_gui.ui.keys_overlay import KeysOverlay
from grpo_gui.ui.rail import Rail
from grpo_gui.ui.rate_badge import RateBadge
from grpo_gui.ui.workspace import Workspace
from tests.rating.entries import event
from tests.ui.fakes import FakeLauncher, step_completed
from tests.ui.stored_run import group_of, stored_run

HUMAN = TrainConfig(num_generations=3, rewards=(RewardSpec("human", "human"),))


@pytest.fixture
def shown(qtbot, tmp_path, writer, pump):
    """A function that stores three groups, one of them all alike, and selects the run."""
    path = tmp_path / "runs.db"
    tasks = BackgroundTasks(lambda: StoreReader(path), StoreReader.close)
    workspace = Workspace(path, Settings(), tasks, pump, writer, FakeLauncher())
    rail = Rail()
    qtbot.addWidget(rail)
    rail.show()
    badge = RateBadge(workspace, rail)

    def show(config):
        run_id = stored_run(writer, config)
        for step, texts in enumerate(("abc", "aaa", "abb"), 1):
            writer.emit(step_completed(run_id, step, (group_of(*texts),)))
        assert writer.flush(10)
        with StoreReader(path) as reader:
            workspace.runs = list(reader.runs())
        workspace.select_run(run_id)
        qtbot.waitUntil(tasks.is_idle)
        return workspace, rail, badge

    yield show
    workspace.close()
    pump.stop()
    assert tasks.close()


def text_on(rail):
    badge = rail._badges.get("rate")
    return badge.text() if badge is not None and badge.isVisible() else ""


def test_that_the_rail_counts_the_groups_that_wait_for_a_person(qtbot, shown, writer):
    _, rail, badge = shown(HUMAN)
    assert text_on(rail) == "2"
    assert rail.buttons["rate"].accessibleName() == "Rate, 2 waiting"
    assert "2 groups wait for your rating" in rail.buttons["rate"].toolTip()
    writer.rate_group(event("ranks", (1, 2, 3), rater="me", group=event().group))
    badge.read()
    qtbot.waitUntil(lambda: text_on(rail) == "1")


def test_that_nobody_is_awaited_by_a_run_that_does_not_learn_from_ratings(shown):
    _, rail, _ = shown(TrainConfig(num_generations=3))
    assert text_on(rail) == ""
    assert rail.buttons["rate"].accessibleName() == "Rate"


def test_that_the_badge_goes_with_the_end_of_the_run(qtbot, shown, writer, pump):
    workspace, rail, _ = shown(HUMAN)
    pump.put(TrainerStatus(workspace.run.id, RunStatus.FINISHED, 3))
    pump.drain()
    assert text_on(rail) == ""


def test_that_the_badge_says_that_an_update_waits(qtbot, shown, pump):
    workspace, rail, badge = shown(HUMAN)
    pump.put(TrainerStatus(workspace.run.id, RunStatus.WAITING, 3, "Step 4 waits for ratings: 0 of 8 are there."))
    pump.drain()
    badge.read()
    qtbot.waitUntil(lambda: "the update waits for them" in rail.buttons["rate"].toolTip())


def test_that_the_cheat_sheet_shows_the_keys_of_the_view_on_screen(qtbot, shown):
    _, rail, _ = shown(HUMAN)
    overlay = KeysOverlay(rail)
    overlay.view = "rate"
    overlay.toggle()
    assert {title for title, section in overlay.sections.items() if section.isVisible()} == {"Everywhere", "Rate"}
    overlay.toggle()
    overlay.view = "train"
    overlay.toggle()
    assert not overlay.sections["Rate"].isVisible()
    assert overlay.sections["Plots"].isVisible()
