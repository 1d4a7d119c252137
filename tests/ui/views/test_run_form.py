from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt

from grpo_gui.events import RunStatus, TrainerStatus
from grpo_gui.settings import Settings
from grpo_gui.training.config import RewardSpec
from grpo_gui.training.data_rows import DataPreview, DataRow
from grpo_gui.training.presets import PRESETS
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.models.branch_point import BranchPoint
from grpo_gui.ui.models.config_fields import FIELDS, parse, to_text
from grpo_gui.ui.views.run_form import RunForm
from grpo_gui.ui.widgets.preview_card import learning_sentence
from tests.ui.fakes import group


class FakeSampler:
    def __init__(self):
        self.requests = []

    def __call__(self, config, seed, done, failed):
        self.requests.append((config, seed, done, failed))


@pytest.fixture
def sampler():
    return FakeSampler()


@pytest.fixture
def form(workspace, sampler, qtbot):
    result = RunForm(workspace, sampler, lambda *request: None, lambda *request: None)
    qtbot.addWidget(result)
    result.resize(1200, 900)
    with qtbot.waitExposed(result):
        result.show()
    return result


def retype(qtbot, line, text):
    line.selectAll()
    qtbot.keyClick(line, Qt.Key.Key_Delete)
    qtbot.keyClicks(line, text)


def click(qtbot, widget):
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


def test_that_one_click_starts_the_default_run(form, launcher, qtbot):
    click(qtbot, form.card.start)
    qtbot.waitUntil(lambda: bool(launcher.started))
    assert launcher.started[0][0] == PRESETS["default"].config


def test_that_enter_in_a_field_starts_what_was_typed(form, launcher, qtbot):
    steps = form.card.inputs["steps"].field
    retype(qtbot, steps, "7")
    qtbot.keyClick(steps, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(launcher.started))
    assert launcher.started[0][0].steps == 7


def test_that_enter_on_a_link_presses_the_link_and_starts_nothing(form, workspace, qtbot):
    form.card.more.setFocus()
    qtbot.keyClick(form.card.more, Qt.Key.Key_Return)
    assert form.card.all_settings.isVisible()
    assert not workspace.is_starting


def test_that_a_bad_value_shows_its_sentence_and_disables_start(form, qtbot):
    retype(qtbot, form.card.inputs["num_generations"].field, "1")
    problem = form.card.inputs["num_generations"].problem
    assert problem.isVisible()
    assert "2" in problem.text()
    assert not form.card.start.isEnabled()
    assert form.card.start.toolTip() == problem.text()
    retype(qtbot, form.card.inputs["num_generations"].field, "4")
    assert not problem.isVisible()
    assert form.card.start.isEnabled()


def test_that_a_text_that_is_no_number_is_a_problem_too(form, qtbot):
    retype(qtbot, form.card.inputs["steps"].field, "many")
    assert "must be a whole number" in form.card.inputs["steps"].problem.text()
    assert not form.card.start.isEnabled()


def test_that_arrow_keys_move_among_the_tasks(form, qtbot):
    first = form.card.tasks.cards["compare"]
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Right)
    assert form.draft.config.task == "sort"
    qtbot.keyClick(form.card.tasks.cards["sort"], Qt.Key.Key_Down)
    assert form.draft.config.task == "mix"


def test_that_a_click_anywhere_on_a_card_chooses_its_task(form, qtbot):
    card = form.card.tasks.cards["reverse"]
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton, pos=card.rect().bottomRight() - card.rect().center() / 8)
    assert form.draft.config.task == "reverse"


def test_that_a_mix_takes_weights(form, qtbot):
    click(qtbot, form.card.tasks.cards["mix"])
    assert form.card.mix.isVisible()
    retype(qtbot, form.card.mix.inputs["compare"], "3")
    retype(qtbot, form.card.mix.inputs["sort"], "")
    assert form.draft.config.task_mix == (("compare", 3.0), ("add", 1.0), ("reverse", 1.0))
    retype(qtbot, form.card.mix.inputs["add"], "x")
    assert form.card.task_problem.isVisible()


def test_that_my_prompts_need_a_file_that_exists(form, tmp_path, qtbot):
    click(qtbot, form.card.tasks.cards["file"])
    assert not form.card.start.isEnabled()
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"prompt": "1 + 1", "answer": "2"}\n')
    retype(qtbot, form.card.prompt_file.line, str(prompts))
    assert form.draft.config.prompt_file == str(prompts)
    assert form.card.start.isEnabled()


def test_that_a_preset_fills_the_form_and_keeps_the_users_own_machine(form, workspace, qtbot):
    workspace.use_settings(Settings(device="cpu", threads=2, eval_steps=5))
    box = form.card.preset
    box.setCurrentIndex(box.findData("sort-9"))
    box.activated.emit(box.currentIndex())
    config = form.draft.config
    assert (config.task, config.min_size, config.steps) == ("sort", 9, 100)
    assert (config.device, config.threads, config.eval_steps) == ("cpu", 2, 5)
    assert form.card.tasks.cards["sort"].isChecked()
    assert form.card.all_settings.inputs["min_size"].text() == "9"


def test_that_every_setting_can_be_edited_and_has_a_tooltip(form, qtbot):
    click(qtbot, form.card.more)
    inputs = {**form.card.inputs, **form.card.all_settings.inputs}
    assert inputs.keys() == FIELDS.keys()
    assert all(len(widget.field.toolTip()) > 20 for widget in inputs.values())
    retype(qtbot, form.card.all_settings.inputs["epsilon_high"].field, "0.28")
    assert form.draft.config.epsilon_high == 0.28
    retype(qtbot, form.card.all_settings.inputs["epsilon_high"].field, "")
    assert form.draft.config.epsilon_high is None
    box = form.card.all_settings.inputs["bf16"].field
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(6, box.height() // 2))
    assert form.draft.config.bf16


def test_that_reward_sources_can_be_added_changed_and_removed(form, qtbot):
    click(qtbot, form.card.more)
    rewards = form.card.all_settings.rewards
    click(qtbot, rewards.add)
    row = rewards.rows[1]
    row.kind.setCurrentIndex(row.kind.findData("regex"))
    row.kind.activated.emit(row.kind.currentIndex())
    retype(qtbot, row.argument, "^[0-9.]+$")
    retype(qtbot, row.weight, "0.5")
    assert form.draft.config.rewards == (
        RewardSpec("exact", "exact"),
        RewardSpec("regex", "regex", 0.5, "^[0-9.]+$"),
    )
    retype(qtbot, row.argument, "(")
    assert form.card.all_settings.rewards_problem.isVisible()
    assert not form.card.start.isEnabled()
    click(qtbot, row.remove)
    assert form.draft.config.rewards == (RewardSpec("exact", "exact"),)
    assert form.card.start.isEnabled()


def test_that_the_form_waits_while_a_run_warms_up_and_comes_back_when_it_fails(form, workspace, pump, qtbot):
    click(qtbot, form.card.start)
    qtbot.waitUntil(lambda: workspace.is_training)
    assert not form.card.isEnabled()
    assert "Warming up" in form.card.start.text()
    pump.put(TrainerStatus(1, RunStatus.FAILED, 0, "No."))
    pump.drain()
    assert form.card.isEnabled()
    assert form.card.start.isEnabled()


def test_that_the_button_leads_to_the_first_groups_when_the_run_waits_for_ratings(
    form, workspace, pump, launcher, qtbot
):
    click(qtbot, form.card.start)
    qtbot.waitUntil(lambda: workspace.is_training)
    pump.put(TrainerStatus(1, RunStatus.WAITING, 0, "Step 1 waits for ratings: 0 of its 8 groups are rated."))
    pump.drain()
    assert form.card.start.text() == "Rate the first groups"
    with qtbot.waitSignal(workspace.view_requested) as asked:
        click(qtbot, form.card.start)
    assert asked.args == ["rate"]
    assert len(launcher.started) == 1


def test_that_the_preview_is_asked_for_once_torch_is_ready_and_again_for_another_task(form, workspace, sampler, qtbot):
    assert sampler.requests == []
    workspace.set_torch_ready("2.13.0", ())
    assert [(request[0].task, request[1]) for request in sampler.requests] == [("compare", 0)]
    click(qtbot, form.card.tasks.cards["add"])
    qtbot.waitUntil(lambda: len(sampler.requests) == 2)
    assert sampler.requests[1][0].task == "add"


def test_that_a_form_nobody_sees_samples_only_once_it_is_shown(form, workspace, sampler, qtbot):
    form.hide()
    workspace.set_torch_ready("2.13.0", ())
    assert sampler.requests == []
    with qtbot.waitExposed(form):
        form.show()
    assert len(sampler.requests) == 1


def test_that_a_setting_that_changes_no_sample_asks_for_no_preview(form, workspace, sampler, qtbot):
    workspace.set_torch_ready("2.13.0", ())
    retype(qtbot, form.card.inputs["steps"].field, "9")
    qtbot.waitUntil(lambda: not form._preview_timer.isActive())
    assert len(sampler.requests) == 1


def test_that_the_preview_shows_the_group_and_what_it_means(form, workspace, sampler, qtbot):
    workspace.set_torch_ready("2.13.0", ())
    sampler.requests[0][2](group(rewards=(1.0, 0.0, 1.0, 0.0)))
    assert form.preview.prompt.text() == "Which is bigger? 9.11 or 9.9?"
    assert form.preview.table.rowCount() == 4
    assert form.preview.sentence.text().startswith("2 of 4 right. The reward differs inside the group")
    click(qtbot, form.preview.again)
    assert sampler.requests[1][1] == 1
    sampler.requests[1][2](group(rewards=(0.0, 0.0)))
    assert "teaches nothing" in form.preview.sentence.text()
    assert not form.grab().isNull()


def test_that_a_preview_that_fails_says_why(form, workspace, sampler):
    workspace.set_torch_ready("2.13.0", ())
    sampler.requests[0][3](TaskFailure("There is no model.", ""))
    assert form.preview.sentence.text() == "There is no model."
    assert form.preview.again.isEnabled()


def test_that_the_devices_torch_found_are_offered(form, workspace):
    workspace.set_torch_ready("2.13.0", ("cuda:0",))
    offered = [form.card.device.itemText(position) for position in range(form.card.device.count())]
    assert offered == ["auto", "cpu", "cuda:0"]
    assert form.card.device_input.hint.text() == ""


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS.keys())
def test_that_every_preset_value_survives_the_text_of_its_field(preset):
    for name, field in FIELDS.items():
        value = getattr(preset.config, name)
        assert parse(field, to_text(value)) == value, name


def test_that_a_branch_says_what_it_takes_over_and_starts_as_one(form, launcher, workspace, qtbot):
    config = replace(PRESETS["default"].config, task="sort", steps=200)
    point = BranchPoint(4, "sort \u00b7 seed 0", 150, Path("/snapshots/step-000150"), True, config)
    form.draft.use_branch(point)
    assert form.card.title.text() == "Branch at step 150"
    assert "weights of sort \u00b7 seed 0 after step 150" in form.card.branch.sentence.text()
    retype(qtbot, form.card.inputs["steps"].field, "100")
    assert not form.card.start.isEnabled()
    assert "last step must be later" in form.card.start.toolTip()
    retype(qtbot, form.card.inputs["steps"].field, "300")
    click(qtbot, form.card.start)
    qtbot.waitUntil(lambda: bool(launcher.started))
    assert launcher.started[0][0] == replace(config, steps=300)
    assert launcher.snapshots == [point.path]


def test_that_a_branch_can_become_a_run_of_its_own(form, launcher, qtbot):
    config = replace(PRESETS["default"].config, task="sort")
    form.draft.use_branch(BranchPoint(4, "sort", 50, Path("/snapshots/a"), False, config))
    assert "optimizer begins anew" in form.card.branch.sentence.text()
    click(qtbot, form.card.branch.drop)
    assert form.card.title.text() == "New run"
    assert not form.card.branch.isVisible()
    click(qtbot, form.card.start)
    qtbot.waitUntil(lambda: bool(launcher.started))
    assert launcher.snapshots == [None]


def test_that_data_that_cannot_be_read_keep_the_run_from_starting_until_they_are_mended(
    workspace, sampler, tmp_path, qtbot
):
    requests = []
    form = RunForm(workspace, sampler, lambda *request: requests.append(request), lambda *request: None)
    qtbot.addWidget(form)
    form.show()
    workspace.set_torch_ready("2.13.0", ("cpu",))
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"prompt": 3}\n')
    form.draft.use_config(replace(form.draft.config, task="file", prompt_file=str(prompts)))
    qtbot.waitUntil(lambda: bool(requests))
    assert form.card.start.isEnabled()
    requests[-1][2](TaskFailure("prompts.jsonl, line 1: the prompt is no text.", ""))
    assert not form.card.start.isEnabled()
    assert form.card.prompt_file.input.problem.text() == "prompts.jsonl, line 1: the prompt is no text."
    qtbot.mouseClick(form.data.again, Qt.MouseButton.LeftButton)
    requests[-1][1](DataPreview((DataRow("1 + 1", "2", 3, 0),), 1))
    assert form.card.start.isEnabled()


def test_that_a_run_that_people_judge_is_not_called_without_a_reward():
    sampled = group()
    judged, of_nobody = (
        replace(sampled, completions=tuple(replace(one, reward=None, rewards=rewards) for one in sampled.completions))
        for rewards in ((("human", None),), ())
    )
    assert "the groups that you rate" in learning_sentence(judged)
    assert "choose other rewards" in learning_sentence(of_nobody)


@pytest.mark.parametrize(("link", "follow"), [("follow", True), ("import", False)])
def test_that_the_other_beginnings_lead_to_runs_made_elsewhere(form, link, follow, qtbot):
    with qtbot.waitSignal(form.import_requested) as asked:
        click(qtbot, form.begin.links[link])
    assert asked.args == [follow]


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_that_my_own_model_opens_the_choice_of_policies(form, qtbot):
    click(qtbot, form.begin.links["model"])
    assert form.card.policy.view().isVisible()
    form.card.policy.hidePopup()


def test_that_another_database_is_asked_for(form, qtbot):
    with qtbot.waitSignal(form.database_requested):
        click(qtbot, form.begin.links["database"])


def test_that_start_stays_in_sight_however_long_the_form_is(form, launcher, qtbot):
    assert not form.pinned.isVisible()
    click(qtbot, form.card.more)
    qtbot.waitUntil(form.pinned.isVisible)
    assert form.pinned.button.text() == form.card.start.text()
    retype(qtbot, form.card.inputs["steps"].field, "0")
    assert not form.pinned.button.isEnabled()
    retype(qtbot, form.card.inputs["steps"].field, "9")
    bar = form.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert not form.pinned.isVisible()
    bar.setValue(0)
    click(qtbot, form.pinned.button)
    qtbot.waitUntil(lambda: bool(launcher.started))
    assert launcher.started[0][0].steps == 9


def test_that_a_narrow_window_has_the_rest_below_the_form(form, qtbot):
    assert form.preview.x() > form.card.geometry().right()
    form.resize(870, 560)
    qtbot.waitUntil(lambda: form.preview.y() > form.card.geometry().bottom())
    assert not form.horizontalScrollBar().isVisible()
