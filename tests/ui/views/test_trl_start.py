from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from grpo_gui.events import RunStatus
from grpo_gui.handover import placement
from grpo_gui.handover.placement import Placement
from grpo_gui.settings import Settings
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.models.branch_point import BranchPoint
from grpo_gui.ui.models.place_choice import HERE, MACHINES, ONE, SEVERAL
from grpo_gui.ui.trl_start import HandedOver
from grpo_gui.ui.views.run_form import RunForm
from tests.ui.fakes import run_record


@pytest.fixture(autouse=True)
def _trl_is_there(monkeypatch):
    monkeypatch.setattr(placement, "find_spec", lambda name: object())


@pytest.fixture
def asked():
    """What was handed over: config, placement, file of accelerate, and what to call afterwards."""
    return []


@pytest.fixture
def form(workspace, asked, qtbot):
    workspace.use_settings(replace(Settings(), device="auto"))
    result = RunForm(workspace, lambda *_: None, lambda *_: None, lambda *request: asked.append(request))
    qtbot.addWidget(result)
    result.resize(1200, 1000)
    with qtbot.waitExposed(result):
        result.show()
    return result


@pytest.fixture
def where(form):
    return form.card.where


def retype(qtbot, line, text):
    line.selectAll()
    qtbot.keyClick(line, Qt.Key.Key_Delete)
    qtbot.keyClicks(line, text)


def click(qtbot, widget):
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


def choose_sharing(where, value):
    where.sharing.setCurrentIndex(where.sharing.findData(value))
    where.sharing.activated.emit(where.sharing.currentIndex())


def test_that_a_run_stays_in_this_window_unless_somebody_says_otherwise(form, where, launcher, asked, qtbot):
    assert where.choice.value == HERE
    assert not where.details.isVisible()
    click(qtbot, form.card.start)
    qtbot.waitUntil(lambda: bool(launcher.started))
    assert not asked


def test_that_one_click_hands_the_run_over_to_trl(form, where, launcher, asked, qtbot):
    where.choice.choose(ONE)
    assert form.card.start.text() == "Start with TRL"
    click(qtbot, form.card.start)
    config, place, accelerate, *_ = asked[0]
    assert (config, place, accelerate) == (form.draft.config, Placement(), "")
    assert not launcher.started
    assert not form.card.start.isEnabled()
    assert form.card.start.text() == "Starting TRL…"


def test_that_the_run_is_shown_when_trl_is_on_its_way(form, where, workspace, fake_reader, asked, qtbot):
    where.choice.choose(ONE)
    click(qtbot, form.card.start)
    fake_reader.records[7] = run_record(7, origin="followed", status=RunStatus.WARMING_UP)
    with qtbot.waitSignal(workspace.run_selected):
        asked[0][3](HandedOver(7, ()))
    assert workspace.run.id == 7
    assert form.card.start.isEnabled()


def test_that_a_start_that_fails_says_why_and_can_be_tried_again(form, where, workspace, asked, qtbot):
    where.choice.choose(ONE)
    click(qtbot, form.card.start)
    with qtbot.waitSignal(workspace.problem) as said:
        asked[0][4](TaskFailure("The disk is full.", ""))
    assert said.args == ["The disk is full.", ""]
    assert form.card.start.isEnabled()


def test_that_what_trl_does_differently_is_listed_before_the_start(form, where):
    where.choice.choose(ONE)
    form.draft.use_preset("seed")
    assert any("advantage_std" in sentence for sentence in where.differences.sentences)
    form.draft.use_preset("default")
    assert not any("advantage_std" in sentence for sentence in where.differences.sentences)
    assert any("its 240" in sentence for sentence in where.differences.sentences)


def test_that_the_number_of_processes_is_checked_while_it_is_typed(form, where, qtbot):
    where.choice.choose(SEVERAL)
    assert form.draft.place == Placement(2)
    retype(qtbot, where.processes, "3")
    assert "cannot be shared evenly by 3 processes" in where.problem.text()
    assert where.problem.isVisible()
    assert not form.card.start.isEnabled()
    retype(qtbot, where.processes, "4")
    assert not where.problem.isVisible()
    assert form.draft.place == Placement(4)


def test_that_a_number_on_its_way_to_another_one_does_not_change_the_choice(where, qtbot):
    where.choice.choose(SEVERAL)
    retype(qtbot, where.processes, "1")
    assert where.choice.value == SEVERAL
    qtbot.keyClicks(where.processes, "6")
    assert where.processes.text() == "16"
    retype(qtbot, where.processes, "")
    assert "at least one process" in where.problem.text()
    assert where.choice.value == SEVERAL


def test_that_there_is_a_process_for_each_card(form, where):
    form.card.set_devices(("cuda:0", "cuda:1", "cuda:2", "cuda:3"))
    where.choice.choose(SEVERAL)
    assert form.draft.place == Placement(4)


def test_that_the_file_of_accelerate_can_be_seen_changed_and_reset(form, where, asked, qtbot):
    form.card.set_devices(("cuda:0", "cuda:1"))
    where.choice.choose(SEVERAL)
    assert not where.show_file.isVisible()
    choose_sharing(where, "fsdp")
    click(qtbot, where.show_file)
    assert "distributed_type: FSDP" in where.file.toPlainText()
    assert not where.reset_file.isVisible()
    where.file.setPlainText("distributed_type: mine\n")
    assert form.draft.accelerate == "distributed_type: mine\n"
    click(qtbot, form.card.start)
    assert asked[0][2] == "distributed_type: mine\n"
    asked[0][4](TaskFailure("no", ""))
    click(qtbot, where.reset_file)
    assert form.draft.accelerate == ""
    assert "distributed_type: FSDP" in where.file.toPlainText()


def test_that_the_template_follows_the_settings_until_it_is_changed(form, where):
    form.card.set_devices(("cuda:0", "cuda:1"))
    where.choice.choose(SEVERAL)
    choose_sharing(where, "deepspeed")
    form.draft.set_text("bf16", "true")
    assert 'mixed_precision: "bf16"' in where.file.toPlainText()


def test_that_several_machines_need_an_address_and_get_commands_to_copy(
    form, where, fake_reader, workspace, asked, qtbot
):
    where.choice.choose(MACHINES)
    assert "address of the first one" in where.problem.text()
    qtbot.keyClicks(where.host, "gpu-a")
    assert not where.problem.isVisible()
    click(qtbot, where.show_command)
    assert "--nnodes 2 --nproc_per_node 2" in where.command.toPlainText()
    click(qtbot, form.card.start)
    assert asked[0][1] == Placement(2, 2, "torchrun", "gpu-a")
    fake_reader.records[7] = run_record(7, origin="followed", status=RunStatus.WARMING_UP)
    with qtbot.waitSignal(workspace.run_selected):
        asked[0][3](HandedOver(7, ("torchrun --nnodes 2", "second")))
    dialog = form._handing.dialog
    qtbot.waitUntil(dialog.isVisible)
    click(qtbot, dialog.copy_buttons[1])
    assert QGuiApplication.clipboard().text() == "second"
    dialog.reject()


def test_that_going_back_to_this_window_takes_the_sentences_away(form, where):
    where.choice.choose(MACHINES)
    where.choice.choose(HERE)
    assert form.draft.place is None
    assert not where.details.isVisible()
    assert form.card.start.isEnabled()
    assert form.card.start.text() == "Start training"


def test_that_a_branch_is_trained_in_this_window_only(form, where):
    form.draft.use_branch(BranchPoint(3, "run 3", 10, Path("snapshot"), True, form.draft.config))
    where.choice.choose(ONE)
    assert "A branch begins" in where.problem.text()


def test_that_a_missing_trl_is_named_with_its_command(form, where, monkeypatch):
    monkeypatch.setattr(placement, "find_spec", lambda name: None)
    where.choice.choose(ONE)
    assert 'pip install "grpo-gui[trl]"' in where.problem.text()
    assert not form.card.start.isEnabled()
