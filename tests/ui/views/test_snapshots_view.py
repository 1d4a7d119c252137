"""The Snapshots view over a real database and real folders, used as a person uses it; models are answered by a fake."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QFile, QPointF, Qt
from PySide6.QtWidgets import QDialog

from grpo_gui.events import EvalCompleted, RunStarted, RunStatus, SnapshotSaved, TrainerStatus
from grpo_gui.paths import run_files_dir
from grpo_gui.snapshots.choosing import locate
from grpo_gui.snapshots.judging import Answer, Comparison, Pair
from grpo_gui.snapshots.keeping import KeepRule, is_pinned, read_rule
from grpo_gui.snapshots.manifest import MANIFEST, Manifest, Parent
from grpo_gui.snapshots.saving import save_snapshot
from grpo_gui.snapshots.shelf import shelf_folder, snapshot_name
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records_snapshots import PairRef
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.models.snapshot_row import FileState
from grpo_gui.ui.models.snapshot_table_model import Column
from grpo_gui.ui.views.snapshots_view import SnapshotsView
from tests.ui.stored_run import store_steps, stored_run

CONFIG = TrainConfig(num_generations=4, steps=60, save_steps=10)


class FakeEngine:
    """Answers at once, or when told."""

    def __init__(self):
        self.questions, self.matches, self.exports = [], [], []
        self.waits = False
        self.cancelled = False
        self.comparison = comparison()
        self.failure = None
        self._finish = None

    def ask(self, question, done, failed):
        self.questions.append(question)
        if self.failure:
            failed(TaskFailure(self.failure, ""))
        else:
            done(Answer("9.9", 4, False))

    def compare(self, match, progress, done, failed):
        self.matches.append(match)
        self._finish = lambda: failed(TaskFailure(self.failure, "")) if self.failure else done(self.comparison)
        if self.waits:
            progress(32, 400)
        else:
            self._finish()
        return self._cancel

    def finish(self):
        self._finish()

    def _cancel(self):
        self.cancelled = True
        self.comparison, self.failure = None, None
        self._finish()

    def export(self, snapshot, target, dtype, done, failed):
        self.exports.append((snapshot, target, dtype))
        done(target)


def comparison(count=12):
    pairs = []
    for number in range(count):
        better = number % 3 != 2
        first, second = Answer(f"good {number}", 3, False, 1.0), Answer(f"bad {number}", 3, False, 0.0)
        pairs.append(Pair(f"Prompt {number}", *((first, second) if better else (second, first))))
    pairs.append(Pair("Both alike", Answer("same", 3, False, 1.0), Answer("same", 3, False, 1.0)))
    return Comparison(tuple(pairs), 0)


@pytest.fixture
def stored(stored):
    stored.set_torch_ready("2", ("cpu",))
    return stored


@pytest.fixture
def engine():
    return FakeEngine()


def add_snapshot(writer, run_id, step, held_out=0.5, *, reason="every", state=True, content="weights"):
    """A folder like the trainer's, with small files, known to the store."""
    metrics = {"reward": 0.5 + step / 1000, "eval/reward": held_out, "kl": step / 100}
    manifest = Manifest(
        run_id, "compare", step, step * 2, 0, reason, 1e9 + step, "grpo-gui", Parent("builtin"), metrics, {}, {}
    )

    def write(folder: Path) -> None:
        (folder / "model.safetensors").write_text(f"{content} {step}")
        if state:
            (folder / "training_state").mkdir()
            (folder / "training_state" / "state.json").write_text("{}")

    target = shelf_folder(run_files_dir(writer.path, run_id)) / snapshot_name(step)
    saved = save_snapshot(target, manifest, write)
    writer.emit(
        SnapshotSaved(
            run_id,
            step,
            manifest.created_s,
            str(target),
            reason,
            saved.manifest.has_training_state,
            saved.manifest.size_bytes,
            saved.sha256,
            tuple(metrics.items()),
        )
    )
    assert writer.flush(10)
    return target


@pytest.fixture
def run_id(writer):
    """A finished run of 40 steps with four snapshots, of which that of step 20 is the best."""
    run_id = stored_run(writer, CONFIG)
    writer.emit(EvalCompleted(run_id, 0, 1e9, (("eval/reward", 0.2),)))
    store_steps(writer, run_id, 1, 40, groups=1)
    for step, held_out in ((10, 0.4), (20, 0.8), (30, 0.6), (40, 0.7)):
        add_snapshot(writer, run_id, step, held_out, reason="end" if step == 40 else "every")
    writer.emit(TrainerStatus(run_id, RunStatus.FINISHED, 40))
    assert writer.flush(10)
    return run_id


@pytest.fixture
def open_view(qtbot, stored, engine):
    def opened(run_id, width=1360, height=834):
        view = SnapshotsView(stored, engine)
        qtbot.addWidget(view)
        view.resize(width, height)
        with qtbot.waitExposed(view):
            view.show()
        stored.select_run(run_id)
        if run_id is not None:
            qtbot.waitUntil(lambda: is_read(view, run_id))
        return view

    return opened


@pytest.fixture
def view(open_view, run_id):
    return open_view(run_id)


def is_read(view, run_id):
    shelf = view.shelf.shelf
    return (
        shelf is not None and shelf.run_id == run_id and all(row.files is not FileState.CHECKING for row in shelf.rows)
    )


def cells(view, column):
    model = view.list.table.snapshots
    return [model.index(row, column).data() for row in range(model.rowCount())]


def choose(view, step):
    place = next(place for place, row in enumerate(view.shelf.rows) if row.step == step)
    view.list.table.choose(place)
    return view.list.table.current_row


def test_that_a_run_shows_its_snapshots_newest_first_and_the_base_model_last(view):
    assert cells(view, Column.STEP) == ["40", "30", "20", "10", "0"]
    assert cells(view, Column.MADE) == ["at the end", "every 10", "every 10", "every 10", "base model"]
    assert cells(view, Column.HELD_OUT) == ["0.700", "0.600", "0.800", "0.400", "0.200"]
    assert cells(view, Column.KL) == ["0.40", "0.30", "0.20", "0.10", "0"]
    assert cells(view, Column.FILES) == ["verified"] * 4 + ["not copied"]
    assert cells(view, Column.KEEP) == ["", "", "best", "", ""]
    assert "4 snapshots" in view.list.header.hint.text()
    assert view.list.rule.text() == "Keep the last 5, the best, and what is pinned"


def test_that_without_a_run_the_view_says_what_to_do(open_view, stored, qtbot):
    view = open_view(None)
    assert view.empty.isVisible()
    with qtbot.waitSignal(stored.new_run_requested):
        view.empty.action.click()


@pytest.mark.parametrize(
    ("origin", "words"), [("imported", "Another program"), ("followed", "Another program"), ("router", "The router")]
)
def test_that_a_run_that_never_has_snapshots_says_why(view, stored, origin, words, qtbot):
    assert not view.empty.isVisible()
    stored._select(replace(stored.run, id=99, origin=origin, config="{}"))
    assert view.empty.isVisible()
    assert view.empty.sentence.text().startswith(words)
    qtbot.waitUntil(stored._tasks.is_idle)


def test_that_a_run_without_snapshots_says_how_they_are_made(open_view, writer):
    run_id = stored_run(writer, CONFIG)
    view = open_view(run_id)
    assert cells(view, Column.MADE) == ["base model"]
    assert "Ctrl+S" in view.list.rule.text()
    assert not view.compare.program.compare.isEnabled()


def test_that_an_edited_file_shows_as_damaged_and_cannot_be_used(open_view, writer, run_id):
    (shelf_folder(run_files_dir(writer.path, run_id)) / "step-000030" / "model.safetensors").write_text("weightz 30")
    view = open_view(run_id)
    assert cells(view, Column.FILES) == ["verified", "damaged", "verified", "verified", "not copied"]
    choose(view, 30)
    buttons = view.list.buttons
    assert [buttons[name].isEnabled() for name in ("resume", "branch", "export", "delete")] == [False] * 3 + [True]
    assert "its hash differs" in buttons["export"].toolTip()
    assert not view.playground.sample.isEnabled()


def test_that_an_edited_manifest_or_a_missing_folder_is_noticed(open_view, writer, run_id):
    folder = shelf_folder(run_files_dir(writer.path, run_id))
    manifest = folder / "step-000040" / MANIFEST
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"step": 41}))
    (folder / "step-000010").rename(folder / "elsewhere")
    view = open_view(run_id)
    assert cells(view, Column.FILES) == ["damaged", "verified", "verified", "missing", "not copied"]


def test_that_a_snapshot_made_while_looking_appears(view, writer, pump, run_id, qtbot):
    add_snapshot(writer, run_id, 50, 0.9)
    pump.put(SnapshotSaved(run_id, 50, 1e9, "", "hand", True, 1, "", ()))
    pump.drain()
    qtbot.waitUntil(lambda: cells(view, Column.STEP)[0] == "50" and is_read(view, run_id))
    assert cells(view, Column.KEEP)[0] == "best"
    assert view.list.table.current_row.step == 40  # the cursor stays on its snapshot


def test_that_a_click_on_a_mark_selects_its_snapshot(view, qtbot):
    area = view.curve.area
    view.curve.redraw()
    qtbot.waitUntil(lambda: len(view.curve.axis.run.series("reward")) == 40)
    view.curve.redraw()
    position = area.mapFromScene(area.getViewBox().mapViewToScene(view_point(area, 20)))
    qtbot.mouseClick(area.viewport(), Qt.MouseButton.LeftButton, pos=position)
    assert view.list.table.current_row.step == 20


def view_point(area, step):
    return QPointF(float(step), sum(area.y_range) / 2)


def test_that_the_newest_is_compared_with_the_base_model_first(view, engine):
    assert cells(view, Column.MARK) == ["A", "", "", "", "B"]
    view.compare.program.compare.click()
    (match,) = engine.matches
    assert (match.first, match.second) == (view.shelf.rows[0].model, "builtin")
    assert (match.prompts, match.config) == (200, CONFIG)


def test_that_a_and_b_are_marked_by_key_and_by_box(view, qtbot):
    table = view.list.table
    table.setFocus()
    choose(view, 30)
    qtbot.keyClick(table, Qt.Key.Key_A)
    choose(view, 10)
    qtbot.keyClick(table, Qt.Key.Key_B)
    assert cells(view, Column.MARK) == ["", "A", "", "B", ""]
    box = view.compare.boxes["B"]
    assert box.currentText() == "B  step 10"
    box.setCurrentIndex(2)
    box.activated.emit(2)
    assert cells(view, Column.MARK) == ["", "A", "B", "", ""]


def test_that_one_snapshot_cannot_be_compared_with_itself(view, qtbot):
    view.list.table.setFocus()
    choose(view, 40)
    qtbot.keyClick(view.list.table, Qt.Key.Key_B)
    assert cells(view, Column.MARK)[0] == "AB"
    assert not view.compare.program.compare.isEnabled()


def test_that_the_programs_result_shows_the_win_rate_with_its_interval(view, qtbot):
    view.compare.program.compare.click()
    program = view.compare.program
    assert program.headline.text() == "A better on 67 %"
    assert program.interval.text() == "of the prompts that differ, 95 %: 39 to 86"
    assert program.counts.text().split() == ["8", "A", "better", "1", "equal", "4", "B", "better"]
    assert program.note.text() == "13 held-out prompts, same random numbers"
    assert not program.compare.isVisible()
    assert "between 39 % and 86 %" in program.bar.accessibleName().replace("\u2009", " ").replace(".0", "")


def test_that_a_comparison_shows_its_progress_and_can_be_cancelled(view, engine):
    engine.waits = True
    program = view.compare.program
    program.compare.click()
    assert (program.progress.value(), program.progress.maximum()) == (32, 400)
    assert program.cancel.isVisible()
    program.cancel.click()
    assert engine.cancelled
    assert program.compare.isVisible()
    assert program.compare.isEnabled()


def test_that_a_comparison_that_fails_says_why(view, engine):
    engine.failure = "The model is gone; choose another one."
    view.compare.program.compare.click()
    assert view.compare.program.note.text() == engine.failure
    assert view.compare.program.compare.isEnabled()


def test_that_a_comparison_is_remembered_when_other_snapshots_were_looked_at(view, engine):
    view.compare.program.compare.click()
    view.compare.pair_chosen.emit(view.shelf.rows[1].snapshot_id, None)
    assert view.compare.program.compare.isVisible()
    view.compare.pair_chosen.emit(view.shelf.rows[0].snapshot_id, None)
    assert view.compare.program.headline.text() == "A better on 67 %"
    assert len(engine.matches) == 1


@pytest.fixture
def rating(view, qtbot):
    """The view after a comparison, with ten pairs to rate."""
    view.compare.blind.goal.setCurrentIndex(0)
    view.compare.blind.goal_changed.emit(10)
    view.compare.program.compare.click()
    qtbot.waitUntil(lambda: view.comparison.session is not None)
    view.compare.blind.setFocus()
    return view


def rate(view, qtbot, key):
    session = view.comparison.session
    before = (session.done, session.current)
    qtbot.keyClick(view.compare.blind, key)
    qtbot.waitUntil(lambda: (session.done, session.current) != before)


def better_side(view):
    return Qt.Key.Key_Left if view.comparison.session.current.left.startswith("good") else Qt.Key.Key_Right


def test_that_pairs_are_rated_by_arrow_keys_and_the_result_shows_only_at_the_goal(rating, qtbot, stored):
    blind = rating.compare.blind
    assert blind.place.text() == "0 of 10"
    texts = {blind.left.text.text().split()[0], blind.right.text.text().split()[0]}
    assert texts == {"good", "bad"}
    for done in range(10):
        assert not blind.result.isVisible()
        rate(rating, qtbot, better_side(rating) if done < 9 else Qt.Key.Key_Down)
    assert blind.result.isVisible()
    ratings = ask(stored, lambda reader: reader.pair_ratings(reference(rating)))
    choices = [given.choice for _, given in ratings]
    assert choices.count("equal") == 1
    first_better = sum(given.first_text.startswith("good") for _, given in ratings if given.choice != "equal")
    assert choices.count("first") == first_better
    assert f"{first_better} A better" in blind.note.text()


def ask(workspace, question):
    with StoreReader(workspace.database) as reader:
        return question(reader)


def reference(view):
    return PairRef(view.shelf.shelf.run_id, view.shelf.rows[0].snapshot_id, None)


def test_that_a_choice_can_be_skipped_and_taken_back(rating, qtbot, stored):
    first = rating.comparison.session.current
    rate(rating, qtbot, Qt.Key.Key_Space)
    assert rating.compare.blind.place.text() == "0 of 10"
    second = rating.comparison.session.current
    assert second != first
    rate(rating, qtbot, Qt.Key.Key_Left)
    assert rating.compare.blind.place.text() == "1 of 10"
    rate(rating, qtbot, Qt.Key.Key_Backspace)
    assert rating.comparison.session.current == second
    qtbot.waitUntil(lambda: len(ask(stored, lambda reader: reader.pair_ratings(reference(rating)))) == 1)


def test_that_a_click_on_a_side_rates_it(rating, qtbot):
    session = rating.comparison.session
    qtbot.mouseClick(rating.compare.blind.left, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.done == 1)


def test_that_ratings_are_found_again_and_go_on(rating, qtbot, open_view, run_id):
    for _ in range(3):
        rate(rating, qtbot, better_side(rating))
    again = open_view(run_id)
    again.compare.blind.goal_changed.emit(10)
    again.compare.program.compare.click()
    qtbot.waitUntil(lambda: again.comparison.session is not None and again.comparison.session.done == 3)


def test_that_ratings_are_found_when_a_and_b_changed_places(rating, qtbot, engine):
    for _ in range(2):
        rate(rating, qtbot, better_side(rating))
    swapped = tuple(Pair(pair.prompt, pair.second, pair.first) for pair in engine.comparison.pairs)
    engine.comparison = replace(engine.comparison, pairs=swapped)
    rating.compare.pair_chosen.emit(None, rating.shelf.rows[0].snapshot_id)
    rating.compare.program.compare.click()
    qtbot.waitUntil(lambda: rating.comparison.session is not None and rating.comparison.session.done == 2)


def test_that_a_snapshot_answers_in_the_playground(view, engine, qtbot):
    choose(view, 20)
    view.playground.prompt.setFocus()
    qtbot.keyClicks(view.playground.prompt, "Which is bigger? 9.11 or 9.9?")
    qtbot.keyClick(view.playground.prompt, Qt.Key.Key_Return)
    question = engine.questions[0]
    assert (question.prompt, question.temperature, question.max_new_tokens) == (
        "Which is bigger? 9.11 or 9.9?",
        1.0,
        16,
    )
    assert Path(question.model).name == "step-000020"
    assert view.playground.answer.text() == "9.9"
    view.playground.sample.click()
    assert engine.questions[1].seed != question.seed
    assert view.playground.earlier.isVisible()
    engine.failure = "Prompt 1 exceeds the model's positions. Shorten it."
    view.playground.sample.click()
    assert view.playground.answer.text() == engine.failure


def test_that_p_pins_and_unpins(view, qtbot):
    row = choose(view, 10)
    view.list.table.setFocus()
    qtbot.keyClick(view.list.table, Qt.Key.Key_P)
    qtbot.waitUntil(lambda: cells(view, Column.KEEP)[3] == "pinned")
    assert is_pinned(row.path)
    qtbot.waitUntil(lambda: is_read(view, view.shelf.shelf.run_id))
    assert view.list.buttons["pin"].text() == "Unpin"
    view.list.buttons["pin"].click()
    qtbot.waitUntil(lambda: cells(view, Column.KEEP)[3] == "")
    assert not is_pinned(row.path)


@pytest.fixture
def trash(monkeypatch, tmp_path):
    """A trash of our own."""
    folder = tmp_path / "trash"
    folder.mkdir()
    monkeypatch.setattr(QFile, "moveToTrash", lambda path: bool(Path(path).rename(folder / Path(path).name)))
    return folder


def test_that_a_snapshot_is_moved_to_the_trash_after_asking(view, qtbot, monkeypatch, trash):
    asked = []
    monkeypatch.setattr(view.doing, "confirm", lambda sentence, action: asked.append(sentence) or len(asked) == 2)
    choose(view, 30)
    view.list.buttons["delete"].click()
    assert "step 30 to the trash" in asked[0]
    assert len(view.shelf.rows) == 5
    qtbot.keyClick(view.list.table, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: cells(view, Column.STEP) == ["40", "20", "10", "0"])
    assert [path.name for path in trash.iterdir()] == ["step-000030"]
    assert view.list.notice.text() == "Moved to the trash: step 30."


def test_that_a_trash_that_refuses_leaves_the_snapshot_and_says_so(view, qtbot, monkeypatch, stored):
    monkeypatch.setattr(QFile, "moveToTrash", lambda path: False)
    monkeypatch.setattr(view.doing, "confirm", lambda sentence, action: True)
    choose(view, 30)
    with qtbot.waitSignal(stored.problem) as problem:
        view.list.buttons["delete"].click()
    assert "cannot be moved to the trash" in problem.args[0]
    assert len(view.shelf.rows) == 5


def accept(monkeypatch, change=lambda dialog: None):
    """Let every dialog be accepted after `change`; return those that came up."""
    seen = []

    def execute(dialog):
        change(dialog)
        seen.append(dialog)
        return QDialog.DialogCode.Accepted

    monkeypatch.setattr(QDialog, "exec", execute)
    return seen


def test_that_an_export_asks_for_a_folder_and_a_precision(view, engine, monkeypatch, tmp_path):
    def fill(dialog):
        dialog.path.setText(str(tmp_path))
        assert not dialog.act.isEnabled()  # in use
        dialog.path.setText(str(tmp_path / "out"))
        dialog.dtype.setCurrentIndex(1)
        assert dialog.act.isEnabled()

    accept(monkeypatch, fill)
    row = choose(view, 20)
    view.list.buttons["export"].click()
    assert engine.exports == [(row.path, tmp_path / "out", "bf16")]
    assert str(tmp_path / "out") in view.list.notice.text()
    shown = []
    view.doing.reveal = shown.append
    view.list.show_result.click()
    assert shown == [tmp_path / "out"]


def test_that_folder_shows_the_snapshots_files(view):
    shown = []
    view.doing.reveal = shown.append
    row = choose(view, 20)
    view.list.buttons["folder"].click()
    assert shown == [row.path]


def test_that_the_keep_rule_tells_the_disk_it_takes_and_what_goes(view, monkeypatch, qtbot, trash, writer, run_id):
    texts = []

    def fill(dialog):
        dialog.last.setValue(1)
        texts.append(dialog.sentence.text())

    accept(monkeypatch, fill)
    view.list.change.click()
    qtbot.waitUntil(lambda: cells(view, Column.STEP) == ["40", "20", "0"])
    assert "at most 2 of" in texts[0]
    assert "Now to the trash: step 10, 30" in texts[0]
    assert read_rule(shelf_folder(run_files_dir(writer.path, run_id)), KeepRule()) == KeepRule(1)
    qtbot.waitUntil(lambda: view.list.next.text() == "next to go: step 40")


def test_that_resuming_says_what_is_put_aside_and_starts_there(view, stored, monkeypatch, qtbot):
    texts = []
    accept(monkeypatch, lambda dialog: texts.append(dialog.sentence.text()))
    row = choose(view, 20)
    with qtbot.waitSignal(stored.view_requested) as shown:
        view.list.buttons["resume"].click()
    assert "Steps 21 to 40 are kept, marked superseded" in texts[0]
    assert "never cut off" in texts[0]
    assert shown.args == ["train"]
    launcher = stored._launcher
    ((config, started, resume),) = launcher.started
    assert (config, started, resume, launcher.snapshots) == (CONFIG, stored.run.id, True, [row.path])


def test_that_resuming_the_end_asks_for_more_steps(view, stored, monkeypatch, qtbot):
    accept(monkeypatch, lambda dialog: dialog.steps.setValue(100))
    choose(view, 40)
    view.list.buttons["resume"].click()
    qtbot.waitUntil(lambda: len(stored._launcher.started) == 1)
    assert stored._launcher.started[0][0].steps == 100
    assert json.loads(ask(stored, lambda reader: reader.run(stored.run.id)).config)["steps"] == 100


def test_that_a_snapshot_without_training_state_can_be_branched_but_not_resumed(open_view, writer, run_id):
    add_snapshot(writer, run_id, 50, state=False)
    view = open_view(run_id)
    choose(view, 50)
    assert not view.list.buttons["resume"].isEnabled()
    assert "branch from it" in view.list.buttons["resume"].toolTip()
    assert view.list.buttons["branch"].isEnabled()


def test_that_branch_hands_the_settings_over_to_the_form(view, stored, qtbot):
    row = choose(view, 20)
    with qtbot.waitSignal(stored.branch_requested) as asked:
        view.list.buttons["branch"].click()
    (point,) = asked.args
    assert (point.run_id, point.step, point.path, point.config) == (stored.run.id, 20, row.path, CONFIG)
    assert "its optimizer" in point.sentence()
    assert "later" in point.problems(replace(CONFIG, steps=20))["steps"]
    assert "model" in point.problems(replace(CONFIG, model="other"))
    assert point.problems(CONFIG) == {}


def test_that_superseded_snapshots_are_hidden_until_asked_for(open_view, writer, run_id, qtbot):
    writer.emit(RunStarted(run_id, 20, "cpu", 1, ()))
    assert writer.flush(10)
    view = open_view(run_id)
    assert cells(view, Column.STEP) == ["20", "10", "0"]
    assert view.list.superseded.text() == "2 superseded"
    view.list.superseded.click()
    qtbot.waitUntil(lambda: cells(view, Column.STEP) == ["20", "10", "40", "30", "0"] and is_read(view, run_id))
    choose(view, 40)
    assert cells(view, Column.MADE)[2] == "at the end, superseded"
    assert not view.list.buttons["resume"].isEnabled()


def test_that_a_narrow_window_shows_list_and_comparison_in_turn(open_view, run_id):
    view = open_view(run_id, width=900, height=600)
    assert view.list.isVisible()
    assert not view.compare.isVisible()
    view.tabs.choose("compare")
    assert view.compare.isVisible()
    assert not view.list.isVisible()
    assert view.list.table.isColumnHidden(Column.KL) == (view.list.table.viewport().width() < 740)


def test_that_a_database_that_was_moved_finds_its_snapshots(writer, run_id):
    folder = run_files_dir(writer.path, run_id)
    with StoreReader(writer.path) as reader:
        (record,) = [item for item in reader.snapshots(run_id) if item.step == 10]
    moved = replace(record, path="/somewhere/else/step-000010")
    assert locate(moved, writer.path) == shelf_folder(folder) / "step-000010"
    assert locate(replace(record, path="step-000010"), writer.path).is_absolute()
