import json
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from grpo_gui.events import RunStatus
from grpo_gui.store.records import ChangeRecord, NoteRecord
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.ui.models.run_facts import facts, parameter_count
from grpo_gui.ui.run_config import config_of
from grpo_gui.ui.widgets.run_panel import RunPanel
from tests.ui.fakes import run_record


@pytest.fixture
def panel(qtbot):
    result = RunPanel()
    qtbot.addWidget(result)
    result.resize(248, 700)
    result.show()
    return result


def words(panel) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def values(run, config) -> dict[str, str]:
    return {fact.name: fact.value for fact in facts(run, config)}


def test_that_the_routers_network_has_facts_of_its_own():
    config = json.dumps({"features": "/models/mini-lm", "num_iterations": 4})
    run = replace(run_record(), origin="router", task="router", config=config, parameters=12_300)
    told = values(run, config_of(run))
    assert (told["Task"], told["Policy"], told["Features"]) == ("router", "network, 12.3 k", "mini-lm")
    assert told["Inner steps"] == "4"
    assert "Batch" not in told
    assert "Features" not in values(replace(run, config="[]"), None)


def test_that_the_facts_of_a_run_are_short_words():
    config = TrainConfig(
        task="sort", min_size=3, max_size=6, rewards=(RewardSpec("a", "exact", 0.8), RewardSpec("b", "length", 0.2))
    )
    told = values(run_record(), config)
    assert told["Task"] == "sort, 3 to 6"
    assert told["Policy"] == "built-in, 0.6 M"
    assert told["Batch"] == "8 prompts × 8"
    assert told["Reward"] == "a 0.8, b 0.2"
    assert told["Loss"] == "grpo, token ratio"


def test_that_a_run_of_another_program_shows_what_is_known():
    assert list(values(run_record(), None)) == ["Task", "Seed", "Device", "Started"]


@pytest.mark.parametrize(("config", "shown"), [('{"world_size": 2}', "2"), ("{}", None), ("[", None)])
def test_that_the_processes_of_a_run_of_trl_are_shown(config, shown):
    assert values(replace(run_record(), config=config), None).get("Processes") == shown


@pytest.mark.parametrize(("count", "text"), [(900, "0.9 k"), (590_000, "0.6 M"), (1_200_000_000, "1.2 B")])
def test_that_parameters_are_counted_as_people_say_it(count, text):
    assert parameter_count(count) == text


def test_that_status_and_facts_follow_the_run(panel):
    panel.show_run(run_record(), TrainConfig(), can_change=False)
    assert panel.status.text() == "finished"
    assert "8 prompts × 8" in words(panel)
    panel.show_run(run_record(status=RunStatus.FAILED, device="cuda:0"), None, can_change=False)
    assert panel.status.text() == "failed"
    assert "cuda:0" in words(panel)
    assert "8 prompts × 8" not in words(panel)


def test_that_steering_shows_only_while_somebody_listens(panel):
    panel.show_run(run_record(status=RunStatus.RUNNING), TrainConfig(), can_change=True)
    assert panel.hyperparameters.isVisible()
    panel.show_run(run_record(), TrainConfig(), can_change=False)
    assert not panel.hyperparameters.isVisible()


def test_that_a_change_and_a_note_lead_to_their_steps(panel, qtbot):
    panel.show_changes(TrainConfig(), [ChangeRecord(96, "learning_rate", 3e-4, 2e-4)])
    panel.show_notes([NoteRecord(1, 88, "<b>six digits</b> lag", 0.0)])
    assert "lr 3.0e-4 → 2.0e-4" in words(panel)
    assert "<b>six digits</b> lag" in words(panel)
    for text, step in (("step 96", 96), ("step 88", 88)):
        jump = next(b for b in panel.findChildren(QPushButton) if b.text() == text)
        with qtbot.waitSignal(panel.step_chosen) as signal:
            qtbot.mouseClick(jump, Qt.MouseButton.LeftButton)
        assert signal.args == [step]


def test_that_an_empty_note_is_no_note(panel, qtbot):
    qtbot.keyClicks(panel.note_field, "   ")
    with qtbot.assertNotEmitted(panel.note_written):
        qtbot.keyClick(panel.note_field, Qt.Key.Key_Return)


def test_that_a_branch_names_the_run_and_step_that_it_leaves():
    named = {fact.name: fact.value for fact in facts(run_record(parent_run_id=3, parent_step=20), TrainConfig())}
    assert named["Branch of"] == "run 3, step 20"
    assert "Branch of" not in {fact.name for fact in facts(run_record(), TrainConfig())}
