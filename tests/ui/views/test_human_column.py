"""Ratings in the Completions view: a column of their own, for runs that learn from them."""

import pytest

from grpo_gui.events import GroupRef, GroupSample, RatingsSettled, RatingUse
from grpo_gui.settings import Settings
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.writer import StoreWriter
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.ui.background_tasks import BackgroundTasks
from grpo_gui.ui.models.completion_columns import Column
from grpo_gui.ui.views.completions_view import CompletionsView
from grpo_gui.ui.workspace import Workspace
from tests.rating.entries import event
from tests.ui.fakes import FakeLauncher, completion, step_completed
from tests.ui.stored_run import stored_run

REWARDS = (RewardSpec("exact", "exact"), RewardSpec("human", "human"))


@pytest.fixture
def shown(qtbot, tmp_path, pump):
    """A function that stores a run with one rated group and shows it."""
    path = tmp_path / "runs.db"
    writer = StoreWriter.open(path)
    tasks = BackgroundTasks(lambda: StoreReader(path), StoreReader.close)
    workspace = Workspace(path, Settings(), tasks, pump, writer, FakeLauncher())

    def show(config):
        run_id = stored_run(writer, config)
        rewards = (("exact", 1.0), ("human", None))
        samples = tuple(completion(place, 1.0, 0.1, text, rewards=rewards) for place, text in enumerate("ab"))
        group = GroupSample(0, "compare", "Which?", "9.9", (0,), samples)
        writer.emit(step_completed(run_id, 1, (group,)))
        assert writer.flush(10)
        ref = GroupRef(run_id, 1, 0)
        rating_id = writer.rate_group(event("ranks", (1, 2), group=ref))
        writer.emit(RatingsSettled(run_id, 1, (RatingUse(ref, (rating_id,), "used", (0.75, -0.75)),)))
        assert writer.flush(10)
        with StoreReader(path) as reader:
            workspace.runs = list(reader.runs())
        workspace.select_run(run_id)
        view = CompletionsView(workspace)
        qtbot.addWidget(view)
        view.resize(1300, 700)
        view.show()
        qtbot.waitUntil(lambda: view.list.model.rowCount() > 0)
        return view

    yield show
    workspace.close()
    pump.stop()
    assert tasks.close()
    writer.close()


def test_that_a_run_with_ratings_has_a_column_for_them(shown):
    view = shown(TrainConfig(num_generations=2, rewards=REWARDS))
    assert not view.list.table.isColumnHidden(Column.HUMAN)
    group = view.list.model.index(0, 0)
    cells = [view.list.model.index(row, Column.HUMAN, group).data() for row in range(2)]
    assert cells == ["+0.75", "−0.75"]
    assert "human" in [action.text() for action in view.list.columns_menu().actions()]


def test_that_a_run_without_them_has_none(shown):
    view = shown(TrainConfig(num_generations=2))
    assert view.list.table.isColumnHidden(Column.HUMAN)
    assert "human" not in [action.text() for action in view.list.columns_menu().actions()]
