import pytest

from grpo_gui.events import RunStatus
from grpo_gui.training.rating_desk import waiting_sentence
from grpo_gui.ui.progress import Progress
from tests.ui.fakes import run_record


@pytest.fixture
def progress(workspace, qtbot):
    made = Progress(workspace)
    qtbot.addWidget(made)
    made.show()
    return made


def test_that_a_followed_run_without_a_known_end_has_no_bar(progress, workspace):
    workspace.run = run_record(config='{"program": "csv"}', origin="followed", status=RunStatus.RUNNING, steps_done=5)
    workspace.run_updated.emit(workspace.run)
    assert (progress.place.text(), progress.left.text()) == ("step 5", "followed")
    assert not progress.bar.isVisible()


def test_that_a_followed_run_that_tells_its_end_has_one(progress, workspace):
    config = '{"program": "trl", "max_steps": 20}'
    workspace.run = run_record(config=config, origin="followed", status=RunStatus.WAITING, steps_done=5)
    workspace.run_updated.emit(workspace.run)
    assert progress.place.text() == "waiting at step 5 of 20"
    assert progress.bar.isVisible()
    assert (progress.bar.value(), progress.bar.maximum()) == (5, 20)


def test_that_a_run_that_waits_for_people_says_what_for(progress, workspace):
    sentence = waiting_sentence(4, 1, 2, 8, 0.0)
    workspace.run = run_record(status=RunStatus.WAITING, steps_done=3, message=sentence)
    workspace.run_updated.emit(workspace.run)
    assert (progress.place.text()[:17], progress.left.text()) == ("waiting at step 3", "for ratings")
