"""The Train view over a real database and live events, driven as a person drives it."""

import random
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt

from grpo_gui.commands import SetHyperparameters
from grpo_gui.errors import StoreError
from grpo_gui.events import HyperparameterChanged, RunFailed, RunStarted, RunStatus, TrainerStatus
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import CompletionRef, GroupRef, NewRun
from grpo_gui.training.validation import config_to_json
from grpo_gui.ui.health_watch import HealthWatch
from grpo_gui.ui.views.train_view import TrainView
from tests.ui import synthetic_run
from tests.ui.fakes import FakeHandle
from tests.ui.plots.test_plots_panel import point_of

CONFIG = replace(synthetic_run.CONFIG, prompts_per_step=4, num_generations=4, steps=60)


def add_run(writer, steps=20, config=CONFIG, ended: RunStatus | None = RunStatus.FINISHED) -> int:
    run_id = writer.create_run(NewRun("sort", "sort", config_to_json(config), 0, "cpu"))
    for event in synthetic_run.events(run_id, steps, config=config):
        writer.emit(event)
    if ended is not None:
        writer.emit(TrainerStatus(run_id, ended, steps))
    assert writer.flush(10)
    return run_id


@pytest.fixture
def open_view(qtbot, stored):
    """Open the view on a run and wait until the run is read."""

    def opened(run_id: int | None, width: int = 1360, height: int = 834) -> TrainView:
        view = TrainView(stored, HealthWatch(stored))
        qtbot.addWidget(view)
        view.resize(width, height)
        with qtbot.waitExposed(view):
            view.show()
        stored.select_run(run_id)
        if run_id is not None:
            qtbot.waitUntil(lambda: view.model.series.run_id == run_id and not view.model.is_loading)
        view.plots.clock.draw_all()
        return view

    return opened


def live_step(run_id, step, rng=None):
    return synthetic_run.step_event(run_id, step, rng or random.Random(step), CONFIG)


def put(pump, *events, writer=None):
    for event in events:
        if writer is not None:
            writer.emit(event)
        pump.put(event)
    pump.drain()


def test_that_a_finished_run_reopens_with_everything(open_view, writer, qtbot):
    view = open_view(add_run(writer))
    qtbot.waitUntil(view.group.isVisible)
    assert view.model.series.newest_step == 20
    assert view.panel.status.text() == "finished"
    assert view.cells.output.headline.text().endswith("of 16")
    assert view.group.header.hint.text() == "step 20"
    assert len(view.model.newest.groups) == 4
    assert not view.panel.hyperparameters.isVisible()


def test_that_live_steps_continue_the_curves(open_view, writer, stored, pump, qtbot):
    run_id = add_run(writer, ended=None)
    view = open_view(run_id)
    put(pump, live_step(run_id, 21), live_step(run_id, 22), writer=writer)
    qtbot.waitUntil(lambda: view.model.series.newest_step == 22)
    assert view.model.series.series("reward").steps.tolist() == list(range(1, 23))
    qtbot.waitUntil(lambda: view.group.header.hint.text() == "step 22")


def test_that_steps_which_the_window_missed_come_from_the_store(open_view, writer, pump, qtbot):
    run_id = add_run(writer, ended=None)
    view = open_view(run_id)
    qtbot.waitUntil(lambda: not view.model.series.needs_store)
    missed, shown = live_step(run_id, 21), live_step(run_id, 22)
    for event in (missed, shown):
        writer.emit(event)
    assert writer.flush(10)
    put(pump, shown)
    qtbot.waitUntil(lambda: view.model.series.newest_step == 22)
    assert view.model.series.series("loss").steps.tolist() == list(range(1, 23))


def test_that_a_run_which_goes_on_from_an_earlier_step_is_read_again(open_view, writer, pump, qtbot):
    run_id = add_run(writer, ended=RunStatus.INTERRUPTED)
    view = open_view(run_id)
    writer.emit(RunStarted(run_id, 10, "cpu", 590_000, ()))
    writer.emit(live_step(run_id, 11))
    assert writer.flush(10)
    put(pump, RunStarted(run_id, 10, "cpu", 590_000, ()))
    qtbot.waitUntil(lambda: not view.model.is_loading and view.model.series.newest_step == 11)


def test_that_a_run_which_another_process_took_back_is_read_again(open_view, writer, stored, qtbot):
    run_id = add_run(writer, ended=None)
    view = open_view(run_id)
    writer.emit(RunStarted(run_id, 10, "cpu", 590_000, ()))
    writer.emit(live_step(run_id, 11))
    assert writer.flush(10)
    stored.store_grew.emit()
    qtbot.waitUntil(lambda: not view.model.is_loading and view.model.series.newest_step == 11)
    assert view.model.series.series("reward").steps.tolist() == list(range(1, 12))


def test_that_a_run_which_cannot_be_read_is_told(open_view, writer, stored, qtbot, monkeypatch):
    run_id = add_run(writer)

    def broken(*_):
        raise StoreError("The database is damaged; open another one.")

    monkeypatch.setattr(StoreReader, "series_names", broken)
    with qtbot.waitSignal(stored.problem) as signal:
        view = open_view(run_id)
    assert signal.args == ["The database is damaged; open another one.", ""]
    assert view.empty.isVisible()


def test_that_another_run_replaces_everything(open_view, writer, stored, qtbot):
    first, second = add_run(writer, 20), add_run(writer, 5)
    view = open_view(first)
    stored.select_run(second)
    qtbot.waitUntil(lambda: view.model.series.run_id == second and view.model.series.newest_step == 5)
    qtbot.waitUntil(lambda: view.group.header.hint.text() == "step 5")


def test_that_a_click_on_a_point_shows_and_holds_its_groups(open_view, writer, pump, qtbot):
    run_id = add_run(writer, ended=None)
    view = open_view(run_id)
    area = view.plots.cards["reward"].area
    qtbot.mouseClick(area.viewport(), Qt.MouseButton.LeftButton, pos=point_of(area, 7))
    qtbot.waitUntil(lambda: view.group.header.hint.text() == "step 7")
    assert view.group.hold.isChecked()
    assert view.plots.axis.marked_step == 7
    put(pump, live_step(run_id, 21), writer=writer)
    qtbot.waitUntil(lambda: view.model.newest.step == 21)
    assert view.group.header.hint.text() == "step 7"
    qtbot.mouseClick(view.group.hold, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: view.group.header.hint.text() == "step 21")
    assert view.plots.axis.marked_step is None


def test_that_a_row_of_the_batch_map_opens_its_group(open_view, writer, qtbot):
    view = open_view(add_run(writer))
    qtbot.waitUntil(view.map.isVisible)
    qtbot.mouseClick(view.map, Qt.MouseButton.LeftButton, pos=view.map.row_rect(2).center())
    assert view.focus.place == 2
    assert view.group.prompt.toPlainText() == view.focus.step.groups[2].prompt
    qtbot.keyClick(view.map, Qt.Key.Key_Up)
    assert view.focus.place == 1
    assert view.focus.held


def test_that_a_click_on_a_completion_shows_its_tokens_and_its_place_on_the_curve(open_view, writer, qtbot):
    view = open_view(add_run(writer))
    qtbot.waitUntil(view.group.isVisible)
    table = view.group.table
    place = table.visualRect(table.model().index(2, 0)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert table.chosen_completion.index == 2
    assert view.plots.axis.marked_step == 20
    assert view.group.tokens.accessibleName().startswith("Tokens:")


def test_that_a_completion_opens_among_all_completions(open_view, writer, stored, qtbot):
    view = open_view(add_run(writer))
    qtbot.waitUntil(view.group.isVisible)
    view.group.table.choose(1)
    opened = []
    stored.completion_selected.connect(opened.append)
    stored.view_requested.connect(opened.append)
    qtbot.mouseClick(view.group.open_link, Qt.MouseButton.LeftButton)
    assert opened == ["completions", CompletionRef(view.focus.ref, 1)]


def test_that_a_completion_chosen_elsewhere_is_shown_with_its_step(open_view, writer, stored, qtbot):
    run_id = add_run(writer)
    view = open_view(run_id)
    stored.completion_selected.emit(CompletionRef(GroupRef(run_id, 9, 3), 2))
    stored.step_selected.emit(9)
    qtbot.waitUntil(lambda: view.group.header.hint.text() == "step 9")
    assert view.focus.place == 3
    assert view.group.table.chosen_completion.index == 2
    assert view.plots.axis.marked_step == 9


def test_that_a_change_that_is_told_stays_when_the_store_was_read_before_it(open_view, writer, stored, pump, qtbot):
    run_id = add_run(writer, ended=None)
    view = open_view(run_id)
    put(pump, HyperparameterChanged(run_id, 21, "temperature", 1.0, 1.2))
    assert [change.step for change in view.model.series.changes] == [21]
    writer.add_note(run_id, 20, "A sign that the store was read.")
    stored.store_grew.emit()
    qtbot.waitUntil(lambda: len(view.model.notes) == 1)
    assert [change.step for change in view.model.series.changes] == [21]


def test_that_hyperparameters_are_changed_from_the_next_step_on(open_view, writer, stored, pump, qtbot):
    run_id = add_run(writer, ended=None)
    handle = FakeHandle(run_id)
    stored._launcher.attachable[run_id] = handle
    view = open_view(run_id)
    qtbot.waitUntil(view.panel.hyperparameters.isVisible)
    fields = view.panel.hyperparameters
    line = fields.fields["epsilon_high"].line
    assert not fields.apply.isEnabled()
    qtbot.keyClicks(line, "0.28")
    assert fields.apply.text() == "Apply at step 21"
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert handle.commands == [SetHyperparameters(epsilon_high=0.28)]
    assert not fields.apply.isEnabled()


def test_that_a_note_is_kept_at_the_newest_step(open_view, writer, qtbot):
    view = open_view(add_run(writer))
    qtbot.keyClicks(view.panel.note_field, "six digits lag behind")
    qtbot.keyClick(view.panel.note_field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(view.model.notes))
    assert (view.model.notes[0].step, view.model.notes[0].text) == (20, "six digits lag behind")
    assert view.panel.notes.isVisible()
    assert view.panel.note_field.text() == ""


def test_that_a_run_without_a_step_says_so(open_view, writer, stored, qtbot):
    view = open_view(add_run(writer, 0))
    assert view.empty.sentence.text() == "This run ended before its first step."
    with qtbot.waitSignal(stored.new_run_requested):
        qtbot.mouseClick(view.empty.action, Qt.MouseButton.LeftButton)


def test_that_a_run_that_failed_before_its_first_step_tells_why(open_view, writer):
    run_id = add_run(writer, 0, ended=None)
    sentence = "prompts.jsonl, line 4 is not JSON."
    writer.emit(RunFailed(run_id, 0, sentence, ""))
    writer.emit(TrainerStatus(run_id, RunStatus.FAILED, 0, sentence))
    assert writer.flush(10)
    assert open_view(run_id).empty.sentence.text() == f"This run ended before its first step. {sentence}"


def test_that_no_run_shows_no_plots(open_view):
    view = open_view(None)
    assert view.empty.sentence.text() == "No run is selected."
    assert not view.plots.isVisible()


def test_that_the_first_step_brings_the_plots(open_view, writer, pump, qtbot):
    run_id = add_run(writer, 0, ended=None)
    view = open_view(run_id)
    assert view.empty.isVisible()
    put(pump, live_step(run_id, 1), writer=writer)
    qtbot.waitUntil(view.plots.isVisible)


@pytest.mark.parametrize(
    ("width", "has_panel", "has_group"), [(1360, True, True), (1200, False, True), (1000, False, False)]
)
def test_that_the_sides_give_way_in_a_narrow_window(open_view, writer, qtbot, width, has_panel, has_group):
    view = open_view(add_run(writer), width, 640)
    qtbot.waitUntil(lambda: view.focus.step is not None)
    assert view.panel.isVisible() is has_panel
    assert view.group.isVisible() is has_group
    assert view.plots.isVisible()
    assert view.panes.left_button.isVisible() is not has_panel


def test_that_what_gave_way_can_be_brought_back(open_view, writer, qtbot):
    view = open_view(add_run(writer), 1000, 640)
    qtbot.waitUntil(lambda: view.focus.step is not None)
    qtbot.mouseClick(view.panes.left_button, Qt.MouseButton.LeftButton)
    assert view.panel.isVisible()
    view.panes.tabs.choose("right")
    assert view.group.isVisible()
    assert not view.plots.isVisible()
    view.resize(1360, 800)
    qtbot.waitUntil(view.plots.isVisible)
    assert view.group.isVisible()


def test_that_the_view_is_usable_at_1280_by_720(open_view, writer, qtbot):
    view = open_view(add_run(writer), 1280 - 80, 720 - 94)
    qtbot.waitUntil(view.group.isVisible)
    assert view.size().toTuple() == (1200, 626)
    assert view.plots.grid.verticalScrollBar().maximum() == 0
    for card in view.plots.cards.values():
        assert card.area.getViewBox().height() >= 30
        assert card.visibleRegion().boundingRect().size() == card.size()
    assert view.panes.left_button.rect().contains(QPoint(5, 5))


def seam_words(view):
    return [text.toPlainText() for text in view.plots.cards["reward"]._seams._labels]


def legend_of(view):
    return [entry.text for entry in view.plots.cards["reward"].header.legend.entries]


def test_that_a_resume_leaves_a_seam_and_superseded_steps_show_on_wish(open_view, writer, pump, qtbot):
    run_id = add_run(writer, ended=RunStatus.INTERRUPTED)
    started = RunStarted(run_id, 10, "cpu", 590_000, ())
    for event in (started, live_step(run_id, 11), live_step(run_id, 12)):
        writer.emit(event)
    assert writer.flush(10)
    view = open_view(run_id)
    qtbot.waitUntil(lambda: len(view.model.series.past.seams) == 1)
    view.plots.clock.draw_all()
    assert [words.split()[0] for words in seam_words(view)] == ["resumed"]
    assert "superseded" not in legend_of(view)
    view.plots.replaced.setChecked(True)
    view.plots.clock.draw_all()
    assert "superseded" in legend_of(view)
    (old,) = view.model.series.past.replaced
    assert old.steps.tolist() == list(range(11, 21))


def test_that_a_resume_in_this_window_shows_its_seam_although_the_store_commits_later(open_view, writer, pump, qtbot):
    run_id = add_run(writer, ended=RunStatus.STOPPED)
    view = open_view(run_id)
    started = RunStarted(run_id, 10, "cpu", 590_000, ())
    put(pump, started)
    writer.emit(started)
    qtbot.waitUntil(lambda: [seam.step for seam in view.model.series.past.seams] == [10])


def test_that_going_on_where_it_stopped_shows_the_seam_while_it_runs(open_view, writer, pump, qtbot):
    run_id = add_run(writer, ended=None)
    view = open_view(run_id)
    put(pump, RunStarted(run_id, 20, "cpu", 590_000, ()), live_step(run_id, 21), writer=writer)
    qtbot.waitUntil(lambda: [seam.step for seam in view.model.series.past.seams] == [20])


def test_that_a_branch_shows_its_parent_up_to_where_it_leaves_it(open_view, writer, qtbot):
    parent = add_run(writer)
    branch = writer.create_run(
        NewRun("sort", "sort", config_to_json(CONFIG), 0, "cpu", parent_run_id=parent, parent_step=12)
    )
    for event in (RunStarted(branch, 12, "cpu", 1, ()), live_step(branch, 13), live_step(branch, 14)):
        writer.emit(event)
    assert writer.flush(10)
    view = open_view(branch)
    qtbot.waitUntil(lambda: view.model.series.past.parent is not None)
    view.plots.clock.draw_all()
    assert view.model.series.past.parent.steps.tolist() == list(range(1, 13))
    assert "parent" in legend_of(view)
    assert seam_words(view) == [f"branch of run {parent}"]
    assert view.model.series.series("reward").steps.tolist() == [13, 14]
