"""The Runs view over a real database, used as a person uses it."""

import threading
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QDialog, QFileDialog, QMenu, QMessageBox

from grpo_gui.diagnose.codec import finding_to_json
from grpo_gui.diagnose.finding import Finding, FindingState
from grpo_gui.diagnose.reading import Action, Severity
from grpo_gui.events import EvalCompleted, RunStatus, TrainerStatus
from grpo_gui.paths import run_files_dir
from grpo_gui.store import shelf_writes
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import NewRun
from grpo_gui.store.records_diagnosis import FindingRecord
from grpo_gui.store.run_files import is_database
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.validation import config_to_json
from grpo_gui.ui.models.runs_table_model import Column
from grpo_gui.ui.models.step_table import AxisKind
from grpo_gui.ui.run_imports import RunImports
from grpo_gui.ui.views.runs_view import RunsView
from grpo_gui.ui.widgets.runs_dialogs import AskText, BinDialog
from tests.ui.fakes import group, step_completed

CONFIG = TrainConfig(num_generations=4, steps=10)


def add_run(writer, name="sort", *, steps=10, seed=0, rewards=0.5, status=RunStatus.FINISHED, seconds=2.0, **changes):
    config = replace(CONFIG, seed=seed, **changes)
    run_id = writer.create_run(NewRun(name, config.task, config_to_json(config), seed, "cpu"))
    for number in range(1, steps + 1):
        groups = (group(0, (1.0, 0.0, 1.0, 0.0), prompt="Shared?"), group(1, prompt=f"Own {run_id} {number}?"))
        event = step_completed(
            run_id, number, groups, reward=rewards + 0.01 * number, kl=0.001 * number, step_time=seconds
        )
        writer.emit(event)
    if steps:
        writer.emit(EvalCompleted(run_id, steps, 1.7e9, (("eval/reward", rewards),)))
    writer.emit(TrainerStatus(run_id, status, steps))
    assert writer.flush(10)
    return run_id


@pytest.fixture
def show(stored, qtbot):
    """Show the view; with the ids of runs, once these are overlaid with their curves."""

    def make(*overlaid, size=(1300, 860)):
        view = RunsView(stored)
        qtbot.addWidget(view)
        view.resize(*size)
        with qtbot.waitExposed(view):
            view.show()
        qtbot.waitUntil(lambda: view._has_rows)
        for run_id in overlaid:
            tick(view, qtbot, run_id)
        qtbot.waitUntil(lambda: all(one.series.newest_step for one in view.overlay.runs))
        qtbot.waitUntil(lambda: set(view.comparison.beside.run_ids) >= set(overlaid))
        view.plots.draw_all()
        return view

    return make


def tick(view, qtbot, run_id):
    """Click the box of a run."""
    table = view.card.table
    place = table.runs.place_of(run_id)
    rect = table.visualRect(table.runs.index(place, Column.OVERLAY))
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=rect.topLeft() + QPoint(14, rect.height() // 2))


def listed(view):
    model = view.card.table.runs
    return [model.row(place).id for place in range(model.rowCount())]


def press(view, qtbot, name):
    qtbot.mouseClick(view.card.buttons[name], Qt.MouseButton.LeftButton)


def test_that_all_runs_are_listed_the_newest_first(writer, show):
    first, second = add_run(writer), add_run(writer, "compare", seed=3)
    view = show()
    assert listed(view) == [second, first]
    assert view.card.count.text() == "2 runs"
    assert view.plots.hint.text().startswith("Tick runs")


def test_that_the_selected_run_is_overlaid_at_first(writer, show, stored, qtbot):
    run_id = add_run(writer)
    stored.select_run(run_id)
    qtbot.waitUntil(lambda: stored.run is not None)
    view = show()
    qtbot.waitUntil(lambda: [one.run.id for one in view.overlay.runs] == [run_id])
    assert view.card.count.text() == "1 run, 1 overlaid"


def test_that_ticked_runs_are_laid_over_each_other_in_styles_of_their_own(writer, show, qtbot):
    ids = [add_run(writer, seed=seed, rewards=0.1 * seed) for seed in range(3)]
    view = show(*ids)
    styles = [one.style for one in view.overlay.runs]
    assert styles == [("blue", "solid"), ("orange", "dash"), ("green", "solid")]
    assert list(view.plots.cards) == ["eval/reward", "kl"]
    values = view.plots.cards["eval/reward"].values()
    assert values == {"sort \u00b7 seed 0": "0", "sort \u00b7 seed 1": "0.100", "sort \u00b7 seed 2": "0.200"}
    tick(view, qtbot, ids[0])
    assert [one.run.id for one in view.overlay.runs] == ids[1:]
    assert [one.style for one in view.overlay.runs] == styles[1:]  # those that stay keep their colour
    tick(view, qtbot, ids[0])
    assert view.overlay.slots[ids[0]] == 0


def test_that_the_crosshair_reads_all_runs_at_the_same_place(writer, show, qtbot):
    short, long = add_run(writer, steps=5), add_run(writer, "long", steps=10, rewards=0.2)
    view = show(short, long)
    view.plots.show_metrics(["reward"])
    qtbot.waitUntil(lambda: "reward" in view.plots.cards)
    view.plots.draw_all()
    card = view.plots.cards["reward"]
    view.plots.axis.set_cursor(4)
    assert card.values() == {"sort \u00b7 seed 0": "0.540", "long \u00b7 seed 0": "0.240"}
    view.plots.axis.set_cursor(8)
    assert card.values() == {"sort \u00b7 seed 0": "\u2013", "long \u00b7 seed 0": "0.280"}
    qtbot.waitUntil(lambda: view.plots.place.text() == "step 8")
    entries = [entry.text for entry in card.header.legend.entries]
    assert entries == ["sort \u00b7 seed 0  \u2013", "long \u00b7 seed 0  0.280"]


@pytest.mark.parametrize(
    ("kind", "end"), [("step", 10), ("samples", 10 * 8), ("tokens", 10 * 8 * 3), ("time", 10 * 2.0)]
)
def test_that_the_axis_counts_steps_samples_tokens_or_seconds(writer, show, kind, end):
    run_id = add_run(writer)
    view = show(run_id)
    view.plots.axis_choice.choose(kind)
    axis = view.plots.axis
    assert axis.kind is AxisKind(kind)
    assert axis.place(10) == pytest.approx(end)
    assert axis.range[1] >= end


def test_that_the_axis_reaches_as_far_as_the_run_that_comes_farthest_in_what_it_counts(writer, show):
    long, slow = add_run(writer, steps=10), add_run(writer, "slow", steps=4, seconds=10.0)
    view = show(long, slow)
    assert view.plots.axis.run.run_id == long
    view.plots.axis_choice.choose("time")
    assert view.plots.axis.run.run_id == slow
    assert view.plots.axis.range[1] >= 40
    by_id = {one.run.id: one.series for one in view.overlay.runs}
    view.plots.axis.set_cursor(2)  # of the slow run: 20 s, where the other one ends
    assert view.plots.axis.steps_at_cursor(by_id[long]) == 10
    view.plots.axis.set_cursor(3)
    assert view.plots.axis.steps_at_cursor(by_id[long]) is None


def test_that_seeds_of_one_experiment_become_a_band_with_mean_and_interval(writer, show, qtbot):
    ids = [add_run(writer, seed=seed, rewards=rewards) for seed, rewards in enumerate((0.1, 0.2, 0.3))]
    other = add_run(writer, "other", beta=0.7)
    view = show(*ids, other)
    qtbot.mouseClick(view.plots.bands, Qt.MouseButton.LeftButton)
    view.plots.draw_all()
    strands = view.plots.strands()
    assert [(strand.title, len(strand.members)) for strand in strands] == [
        ("sort, 3 seeds", 3),
        ("other \u00b7 seed 0", 1),
    ]
    values = view.plots.cards["eval/reward"].values()
    # mean .2, s = .1, half = 4.302653 * .1 / sqrt(3)
    assert values["sort, 3 seeds"] == "0.200 \u00b1 0.25"
    qtbot.mouseClick(view.plots.bands, Qt.MouseButton.LeftButton)
    assert len(view.plots.strands()) == 4


def test_that_only_differing_settings_are_shown_until_the_equal_ones_are_asked_for(writer, show, qtbot):
    view = show(add_run(writer), add_run(writer, seed=1, beta=0.5))
    table = view.side.difference
    qtbot.waitUntil(lambda: len(table.rows) == 2)
    assert {row.name: row.values for row in table.rows} == {"beta": ("0.02", "0.5"), "seed": ("0", "1")}
    assert table.header.hint.text().startswith("2 differ, ")
    qtbot.mouseClick(table.toggle, Qt.MouseButton.LeftButton)
    assert len(table.rows) > 30
    assert table.table.rowCount() == len(table.rows)
    names = {table.table.item(row, 0).text() for row in range(table.table.rowCount())}
    assert {"exact.weight", "learning_rate"} <= names


def test_that_the_same_prompt_is_shown_side_by_side(writer, show, qtbot):
    view = show(add_run(writer, steps=10), add_run(writer, seed=1, steps=6))
    answers = view.side.answers
    qtbot.waitUntil(lambda: len(answers.blocks) == 2)
    assert answers.prompts.currentText() == "Shared?"
    assert [block.answers.step for block in answers.blocks] == [6, 6]
    assert [(one.text, one.times, one.reward) for one in answers.blocks[0].answers.answers] == [
        ("9.9", 2, 1.0),
        ("9.9", 2, 0.0),
    ]


def test_that_runs_without_a_common_prompt_say_so(writer, show, stored, qtbot):
    first = add_run(writer, steps=0)
    second = add_run(writer, "other", steps=0)
    view = show()
    view.overlay.choose([row.run for row in view._rows.values()])
    qtbot.waitUntil(lambda: set(view.comparison.beside.run_ids) == {first, second})
    assert "no prompt in common" in view.side.answers.sentence.text()


def test_that_curves_that_measure_something_else_carry_a_note(writer, show, qtbot):
    plain = add_run(writer)
    corrected = add_run(writer, "corrected", use_bias_correction_kl=True)
    view = show(plain, corrected)
    note = view.plots.cards["kl"].note
    assert not note.isHidden()
    assert "cannot be compared" in note.text()
    assert "k3-times-ratio" in note.toolTip()
    assert view.plots.cards["eval/reward"].note.isHidden()
    qtbot.waitUntil(lambda: "KL" in view.side.definitions.text())
    tick(view, qtbot, corrected)
    view.plots.draw_all()
    assert note.isHidden()


def test_that_findings_stand_beside_the_curves_and_open_their_run(writer, show, stored, qtbot):
    run_id = add_run(writer)
    finding = Finding(
        *("kl_runaway", "KL accelerates", Severity.WARNING, FindingState.OPEN, 3, 4, 9, "A headline.", "A detail."),
        *((), Action("Stop."), "measure", 1.0, 2.0),
    )
    record = FindingRecord(
        *("kl_runaway", "KL accelerates", "warning", "open", "", 3, 4, "A headline.", "A detail.", "Stop."),
        finding_to_json(finding),
    )
    writer.save_findings(run_id, (record,))
    long = add_run(writer, "long", steps=3)
    view = show(run_id)
    qtbot.waitUntil(lambda: run_id in view.side.findings)
    (row,) = [row for row in view.side.findings[run_id].rows if row.detector == "kl_runaway"]
    with qtbot.waitSignal(stored.view_requested):
        qtbot.mouseClick(row, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: stored.run is not None and stored.run.id == run_id)
    tick(view, qtbot, long)  # never diagnosed, but short
    qtbot.waitUntil(lambda: long in view.side.findings)


def test_that_a_search_finds_by_tag_and_note_and_escape_ends_it(writer, show, qtbot):
    first, second = add_run(writer), add_run(writer, "compare")
    writer.set_tags(first, ("baseline",))
    writer.add_note(second, 3, "diverged here")
    view = show()
    view.card.focus_search()
    qtbot.keyClicks(view.card.search, "diverged")
    qtbot.waitUntil(lambda: listed(view) == [second])
    qtbot.keyClick(view.card.search, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: listed(view) == [second, first])
    qtbot.keyClicks(view.card.search, "baseline nothing")
    qtbot.waitUntil(lambda: listed(view) == [])
    assert not view.card.nothing.isHidden()


def test_that_the_slash_key_goes_to_the_search(writer, show, qtbot):
    add_run(writer)
    view = show()
    view.card.table.setFocus()
    qtbot.keyClick(view.card.table, Qt.Key.Key_Slash)
    assert view.card.search.hasFocus()


def test_that_a_single_plot_is_saved_from_its_menu(writer, show, qtbot, tmp_path, monkeypatch):
    view = show(add_run(writer))
    card = view.plots.cards["kl"]
    answers = iter(
        [(str(tmp_path / "kl"), "SVG (*.svg)"), (str(tmp_path / "none" / "kl.png"), "PNG (*.png)"), ("", "")]
    )
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: next(answers))
    warnings = []
    monkeypatch.setattr(QMessageBox, "warning", lambda *words: warnings.append(words[-1]))
    for _ in range(3):
        card.menu.save_action.trigger()
    assert "KL (mean)" in (tmp_path / "kl.svg").read_text()
    assert len(warnings) == 1
    assert "cannot be written" in warnings[0]


def test_that_tags_are_given_with_the_keyboard(writer, show, qtbot, monkeypatch):
    run_id = add_run(writer)
    view = show()
    view.card.table.select({run_id})
    monkeypatch.setattr(AskText, "exec", lambda self: self.field.setText("b, a") or QDialog.DialogCode.Accepted)
    qtbot.keyClick(view.card.table, Qt.Key.Key_T)
    qtbot.waitUntil(lambda: view._rows[run_id].run.tags == ("b", "a"))
    assert view.card.table.selected[0].run.tags == ("b", "a")


def test_that_tags_of_several_runs_keep_what_only_some_have(writer, show, qtbot, monkeypatch):
    first, second = add_run(writer), add_run(writer, "other")
    writer.set_tags(first, ("both", "mine"))
    writer.set_tags(second, ("both",))
    view = show()
    view.card.table.select({first, second})
    offered = []
    monkeypatch.setattr(
        AskText,
        "exec",
        lambda self: (offered.append(self.text), self.field.setText("new"), QDialog.DialogCode.Accepted)[2],
    )
    press(view, qtbot, "tags")
    qtbot.waitUntil(lambda: view._rows[second].run.tags == ("new",))
    assert view._rows[first].run.tags == ("new", "mine")
    assert offered == ["both"]


def test_that_a_run_is_renamed(writer, show, qtbot, monkeypatch):
    run_id = add_run(writer)
    view = show(run_id)
    view.card.table.select({run_id})
    monkeypatch.setattr(AskText, "exec", lambda self: self.field.setText(" better ") or QDialog.DialogCode.Accepted)
    qtbot.keyClick(view.card.table, Qt.Key.Key_F2)
    qtbot.waitUntil(lambda: view._rows[run_id].run.name == "better")
    assert view.overlay.runs[0].title == "better \u00b7 seed 0"


def test_that_notes_are_written_and_deleted(writer, show, qtbot, monkeypatch):
    run_id = add_run(writer)
    view = show()
    view.card.table.select({run_id})
    seen = []

    def use(dialog):
        qtbot.keyClicks(dialog.field, "looks good")
        qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: dialog.list.count() == 1)
        seen.append(dialog.list.item(0).text())
        dialog.list.item(0).setSelected(True)
        qtbot.mouseClick(dialog.remove, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: dialog.list.count() == 0)
        return False

    monkeypatch.setattr(view.actions_, "_accepted", use)
    press(view, qtbot, "note")
    assert seen[0].startswith("step 10")
    assert seen[0].endswith("looks good")


def test_that_the_archive_is_listed_apart_and_gives_back(writer, show, qtbot):
    first, second = add_run(writer), add_run(writer, "other")
    view = show()
    view.card.table.select({first})
    press(view, qtbot, "archive")
    qtbot.waitUntil(lambda: listed(view) == [second])
    view.card.states.setCurrentIndex(view.card.states.findData("archive"))
    view.card.filter_changed.emit()
    assert listed(view) == [first]
    view.card.table.select({first})
    press(view, qtbot, "archive")
    qtbot.waitUntil(lambda: not view._rows[first].run.archived)


def test_that_deleting_asks_moves_to_the_bin_and_can_be_taken_back(writer, show, stored, qtbot, monkeypatch):
    run_id = add_run(writer)
    view = show(run_id)
    questions = []
    monkeypatch.setattr(view.actions_, "confirm", lambda *words: questions.append(words) or len(questions) > 1)
    view.card.table.select({run_id})
    qtbot.keyClick(view.card.table, Qt.Key.Key_Delete)
    assert questions[0][0] == "Move sort \u00b7 seed 0 with 80 completions to the bin?"
    assert listed(view) == [run_id]  # the first answer was no
    press(view, qtbot, "delete")
    qtbot.waitUntil(lambda: listed(view) == [])
    assert view.overlay.runs == []
    assert view.card.strip.words.text() == "1 run is in the bin."
    qtbot.mouseClick(view.card.strip.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: listed(view) == [run_id])


def test_that_a_run_that_trains_is_not_deleted(writer, show, qtbot, monkeypatch):
    run_id = add_run(writer, status=RunStatus.RUNNING)
    view = show()
    monkeypatch.setattr(view.actions_, "confirm", lambda *_: pytest.fail("asked"))
    view.card.table.select({run_id})
    press(view, qtbot, "delete")
    assert view.card.strip.words.text() == "sort \u00b7 seed 0 is running; stop it before you delete it."
    assert listed(view) == [run_id]


def test_that_the_bin_is_emptied_with_progress(writer, show, stored, qtbot, monkeypatch, tmp_path):
    monkeypatch.setattr(shelf_writes, "GROUPS_AT_ONCE", 1)
    kept, gone = add_run(writer), add_run(writer, "other")
    folder = run_files_dir(stored.database, gone)
    folder.mkdir(parents=True)
    writer.move_to_bin(gone)
    view = show()
    monkeypatch.setattr(view.actions_, "confirm", lambda *_: True)
    monkeypatch.setattr(BinDialog, "exec", lambda self: self.empty.click())
    seen = []
    view.card.strip.bar.valueChanged.connect(seen.append)
    qtbot.mouseClick(view.card.bin, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: view.card.strip.words.text() == "1 run is deleted.", timeout=20_000)
    assert max(seen) == 1000
    assert not folder.exists()
    with StoreReader(stored.database) as reader:
        assert reader.binned_runs() == ()
        assert [run.id for run in reader.runs()] == [kept]


def test_that_emptying_the_bin_can_be_cancelled_and_closing_cancels_it(writer, show, stored, qtbot, monkeypatch):
    monkeypatch.setattr(shelf_writes, "GROUPS_AT_ONCE", 1)
    gone = add_run(writer)
    writer.move_to_bin(gone)
    view = show()
    has_begun, is_cancelled, delete_some = threading.Event(), threading.Event(), writer.delete_some

    def one_piece(run_id):
        left = delete_some(run_id)
        has_begun.set()
        is_cancelled.wait(20)
        return left

    monkeypatch.setattr(writer, "delete_some", one_piece)
    monkeypatch.setattr(view.actions_, "confirm", lambda *_: True)
    monkeypatch.setattr(BinDialog, "exec", lambda self: self.empty.click())
    qtbot.mouseClick(view.card.bin, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(has_begun.is_set)
    stored.closing.emit()
    is_cancelled.set()
    qtbot.waitUntil(lambda: view.card.strip.words.text() == "0 runs are deleted. 1 stays in the bin.")
    with StoreReader(stored.database) as reader:
        assert [run.unfinished for run in reader.binned_runs()] == [True]


def test_that_a_double_click_opens_a_run_in_the_train_view(writer, show, stored, qtbot):
    run_id = add_run(writer)
    view = show()
    table = view.card.table
    stored.refresh_runs()
    place = table.visualRect(table.runs.index(table.runs.place_of(run_id), Column.RUN)).center()
    with qtbot.waitSignal(stored.view_requested) as asked:
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        qtbot.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert asked.args == ["train"]
    qtbot.waitUntil(lambda: stored.run is not None and stored.run.id == run_id)


def test_that_a_header_sorts_and_a_second_click_turns_the_order_round(writer, show, qtbot):
    low, high = add_run(writer, rewards=0.1), add_run(writer, "a", rewards=0.9)
    middle = add_run(writer, "b", rewards=0.5)
    view = show()
    view.card.table.horizontalHeader().sectionClicked.emit(Column.REWARD)
    assert listed(view) == [high, middle, low]
    view.card.table.horizontalHeader().sectionClicked.emit(Column.REWARD)
    assert listed(view) == [low, middle, high]
    view.card.table.horizontalHeader().sectionClicked.emit(Column.RUN)
    assert listed(view) == [high, middle, low]


def test_that_the_space_bar_ticks_all_selected_runs(writer, show, qtbot):
    ids = {add_run(writer), add_run(writer, "other")}
    view = show()
    view.card.table.select(ids)
    qtbot.keyClick(view.card.table, Qt.Key.Key_Space)
    assert set(view.overlay.slots) == ids
    qtbot.keyClick(view.card.table, Qt.Key.Key_Space)
    assert view.overlay.slots == {}


def test_that_curves_and_plots_are_exported_from_the_menu(writer, show, qtbot, tmp_path):
    ids = [add_run(writer), add_run(writer, "other")]
    view = show(*ids)
    names = {
        "Curves as CSV\u2026": "c.csv",
        "Plots as PNG\u2026": "p.png",
        "Plots as SVG\u2026": "p.svg",
        "Report\u2026": "r",
    }
    asked = []
    menu = QMenu()
    view.card.table.select({ids[0]})
    for entry, name in names.items():
        view.exports.ask = lambda wanted, ending, name=name: asked.append(wanted) or str(tmp_path / name)
        view.exports.fill(menu)
        next(action for action in menu.actions() if action.text() == entry).trigger()
        qtbot.waitUntil(lambda: view.card.strip.words.text().startswith("Written: "))
        view.card.strip.tell("")
    assert asked == ["2-runs.csv", "2-runs-plots.png", "2-runs-plots.svg", "sort-seed-0.html"]
    text = (tmp_path / "c.csv").read_text()
    assert text.count("\n") == 1 + 2 * (4 * 10 + 1)
    picture = QImage(str(tmp_path / "p.png"))
    assert picture.width() == 2 * view.plots.page.width()
    svg = (tmp_path / "p.svg").read_text()
    assert "<svg" in svg
    assert "Held-out reward" in svg
    assert "<polyline" in svg or "<path" in svg
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")


def test_that_a_run_goes_out_as_a_file_and_comes_in_again(writer, show, stored, qtbot, tmp_path):
    run_id = add_run(writer, "travels")
    view = show(run_id)
    file = tmp_path / "run.db"
    view.exports.ask = lambda wanted, ending: str(file)
    view.exports.export([view.overlay.runs[0].run], ".db")
    qtbot.waitUntil(lambda: view.card.strip.words.text().startswith("Written: "), timeout=20_000)
    assert is_database(file)
    writer.move_to_bin(run_id)  # else it is there already
    imports = RunImports(stored, view.card.strip, view)
    imports.start([file])
    words = "Run 2 was imported from run.db: 10 logged steps, 80 completions."
    qtbot.waitUntil(lambda: view.card.strip.words.text() == words, timeout=20_000)
    imports.start([file])
    words = "Run 2 holds run.db already; nothing has changed."
    qtbot.waitUntil(lambda: view.card.strip.words.text() == words, timeout=20_000)
    qtbot.waitUntil(lambda: listed(view) == [2])


def test_that_what_needs_one_run_or_plots_is_not_offered_without(writer, show):
    add_run(writer)
    add_run(writer, "other")
    view = show()
    menu = QMenu()
    view.exports.fill(menu)
    assert not [action.text() for action in menu.actions() if action.isEnabled() and not action.isSeparator()]


def test_that_a_running_run_grows_in_the_plots(writer, show, qtbot):
    run_id = add_run(writer, steps=3, status=RunStatus.RUNNING)
    view = show(run_id)
    assert view.plots.axis.run.newest_step == 3
    writer.emit(step_completed(run_id, 4, reward=0.9))
    assert writer.flush(10)
    qtbot.waitUntil(lambda: view.overlay.runs[0].series.newest_step == 4, timeout=10_000)


def test_that_many_runs_have_their_values_in_rows_below_the_header(writer, show, qtbot):
    ids = [add_run(writer, seed=seed, steps=3) for seed in range(12)]
    view = show(*ids, size=(1200, 800))
    card = view.plots.cards["kl"]
    assert card.header.legend.isHidden()
    assert sum(len(legend.entries) for legend in card.values_below.rows) == 12
    assert len({one.style for one in view.overlay.runs}) == 12


def test_that_a_narrow_view_shows_curves_or_settings(writer, show, qtbot):
    view = show(add_run(writer), size=(900, 700))
    assert view.plots.isVisible()
    assert not view.side.isVisible()
    view.tabs.choose("side")
    assert view.side.isVisible()


def test_that_an_empty_database_offers_a_run(show, stored, qtbot):
    view = show()
    with qtbot.waitSignal(stored.new_run_requested):
        qtbot.mouseClick(view.empty.action, Qt.MouseButton.LeftButton)
