"""The buttons of a finding, pressed in the window while the real trainer trains beside it."""

import json
from dataclasses import replace

import pyqtgraph as pg
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from safetensors.torch import load_file, save_file

from grpo_gui.app.session import Session, open_database
from grpo_gui.commands import Pause, Resume, Stop
from grpo_gui.diagnose.reading import Action
from grpo_gui.events import RunStatus, TrainerStatus
from grpo_gui.language.policy import LanguagePolicy
from grpo_gui.paths import run_files_dir
from grpo_gui.settings import Settings
from grpo_gui.store.reader import StoreReader
from grpo_gui.training.config import RewardSpec
from grpo_gui.training.state import load_state, newest_state
from grpo_gui.ui import health_watch, theme
from grpo_gui.ui.background_tasks import BackgroundTasks
from grpo_gui.ui.models.hyperparameters import change_text
from grpo_gui.ui.models.run_health import health_of
from grpo_gui.ui.views.train_view import TrainView
from tests.training.fakes import make_tiny_model, tiny_config
from tests.ui.broken_run import finding

pytestmark = pytest.mark.qt_log_ignore(r"This plugin does not support (propagateSizeHints|raise)\(")

WAIT_MS = 20_000
ONSET = 5
PROPOSED = {  # what a finding may ask of a running trainer: the setting, its value, the one before
    "learning_rate": (1e-4, 1e-3),
    "beta": (0.04, 0.0),
    "epsilon_high": (0.28, None),
    "temperature": (1.2, 1.0),
}
OTHERS = {"num_generations": 8.0, "prompts_per_step": 8.0, "max_completion_length": 12.0, "prompt_file": None}


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory):
    return make_tiny_model(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture(autouse=True)
def _planted(monkeypatch):
    """Every run has a finding for each setting, beside those of its own."""
    actions = {name: Action("Do it.", name, value, live=True) for name, (value, _) in PROPOSED.items()}
    actions |= {name: Action("Do it.", name, value) for name, value in OTHERS.items()}
    made = tuple(finding(name, action=action, onset=ONSET, evidence=()) for name, action in actions.items())
    monkeypatch.setattr(
        health_watch, "health_of", lambda *given: replace(one := health_of(*given), findings=(*made, *one.findings))
    )
    monkeypatch.setattr(health_watch, "READ_MS", 50)


class Desk:
    """A window over a new database, and what a person sees and does in it."""

    def __init__(self, folder, qtbot):
        self.database, self.qtbot = folder / "runs.db", qtbot
        self._torch_tasks = BackgroundTasks(lambda: None, lambda _: None)
        self.session = Session(open_database(self.database), Settings(), self._torch_tasks)
        self.window, self.workspace = self.session.window, self.session.workspace
        self.window.resize(1440, 900)
        shown = []
        self.session.show(lambda: shown.append(True))
        self.wait(lambda: shown)
        self.workspace.set_torch_ready("2", ())

    def close(self):
        self.window.close_now()
        self.session.close()
        assert self._torch_tasks.close()

    def wait(self, condition):
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=WAIT_MS)

    def start(self, config):
        self.workspace.start(config)
        self.wait_for_steps()

    def wait_for_steps(self):
        self.wait(lambda: self.workspace.run is not None and self.workspace.run.steps_done > ONSET)

    @property
    def card(self):
        return self.window.train.findChild(TrainView).findings.card

    def open_finding(self, detector):
        """Open the card of a finding and wait for the first button."""
        self.workspace.finding_asked.emit(detector)
        self.wait(lambda: self.card.finding is not None and self.card.finding.detector == detector)
        self.wait(self.card.remedy.first.isVisible)

    def press_first(self):
        self.qtbot.mouseClick(self.card.remedy.first, Qt.MouseButton.LeftButton)

    def pause(self):
        self.workspace.post(Pause())
        self.wait(lambda: self.workspace.status.status is RunStatus.PAUSED)

    def stop(self):
        self.workspace.post(Stop())
        self.wait(lambda: not self.workspace.is_training)

    def read(self, question):
        assert self.session._opened.writer.flush()
        with StoreReader(self.database) as reader:
            return question(reader)

    def state_config(self):
        """The settings in the newest state that the trainer has saved."""
        folder = run_files_dir(self.database, self.workspace.run.id)
        return json.loads(load_state(newest_state(folder)).values["config"])


@pytest.fixture
def desk(qapp, qtbot, tmp_path, monkeypatch):
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "HOME", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    theme.apply("light")
    made = Desk(tmp_path, qtbot)
    yield made
    made.close()


@pytest.fixture
def config(tiny_model):
    return tiny_config(tiny_model, steps=100_000, num_iterations=1, save_steps=2, save_total_limit=0, beta=0.0)


@pytest.mark.parametrize("is_paused", [False, True])
def test_that_each_live_change_reaches_the_trainer_is_recorded_and_is_drawn(desk, config, is_paused):
    desk.start(config)
    if is_paused:
        desk.pause()
    view = desk.window.train.findChild(TrainView)
    for count, (setting, (value, before)) in enumerate(PROPOSED.items(), 1):
        step = desk.workspace.run.steps_done
        desk.open_finding(setting)
        desk.press_first()
        assert "Asked for" in desk.card.remedy.hint.text()
        desk.wait(lambda wanted=count: len(desk.read(lambda reader: reader.changes(desk.workspace.run.id))) == wanted)
        change = desk.read(lambda reader: reader.changes(desk.workspace.run.id))[-1]
        assert (change.name, change.old, change.new) == (setting, before, value)
        assert change.step > step
        desk.wait(lambda drawn=change: drawn in view.model.series.changes)
        desk.wait(lambda: "is set since step" in desk.card.remedy.hint.text())
        assert not desk.card.remedy.first.isVisible()
    desk.workspace.post(Resume())
    newest = change.step
    desk.wait(lambda: desk.workspace.run.steps_done > newest)
    desk.pause()
    assert {name: desk.state_config()[name] for name in PROPOSED} == {name: new for name, (new, _) in PROPOSED.items()}
    rates = desk.read(lambda reader: reader.points(desk.workspace.run.id, "learning_rate"))
    assert rates.values[-1] == pytest.approx(1e-4, rel=0.05)  # the schedule has begun to lower it
    view.findings.close()
    view.plots.clock.draw_all()
    written = [one for one in view.plots.cards["reward"].area.scene().items() if isinstance(one, pg.TextItem)]
    changes = desk.read(lambda reader: reader.changes(desk.workspace.run.id))
    assert {change_text(change) for change in changes} <= {one.toPlainText() for one in written}
    desk.stop()


def test_that_a_change_that_the_trainer_refuses_is_offered_again(desk, config):
    desk.start(config)
    desk.pause()
    desk.open_finding("temperature")
    desk.workspace.post = lambda command: desk.session.pump.put(
        TrainerStatus(desk.workspace.run.id, RunStatus.PAUSED, desk.workspace.run.steps_done, "Not changed: so it is.")
    )
    desk.press_first()
    assert not desk.card.remedy.first.isVisible()
    desk.wait(desk.card.remedy.first.isVisible)
    assert "1.2 now" in desk.card.remedy.first.text()
    del desk.workspace.post
    desk.stop()


@pytest.mark.parametrize("setting", ["num_generations", "prompts_per_step", "max_completion_length"])
def test_that_what_cannot_change_while_a_run_goes_on_becomes_a_branch_of_it(desk, config, setting):
    desk.start(config)
    desk.open_finding("temperature")
    desk.press_first()  # changed on the way: the branch has it too
    desk.wait(lambda: "is set since step" in desk.card.remedy.hint.text())
    desk.open_finding(setting)
    desk.wait(lambda: desk.card.remedy.first.text().startswith("Branch from step 4 with"))
    hint = desk.card.remedy.hint.text()
    assert "cannot change while the run goes on: stop it, then start the branch" in hint
    form, parent = desk.window.form, desk.workspace.run.id
    desk.press_first()
    desk.wait(form.isVisible)
    assert (form.draft.branch.step, form.draft.branch.run_id) == (4, parent)
    assert getattr(form.draft.config, setting) == OTHERS[setting]
    assert form.draft.config.temperature == 1.2
    assert not form.card.start.isEnabled()
    assert "stop it" in form.card.start.toolTip()
    desk.stop()
    desk.wait(form.card.start.isEnabled)
    desk.qtbot.mouseClick(form.card.start, Qt.MouseButton.LeftButton)
    desk.wait_for_steps()
    assert desk.workspace.run.id != parent
    assert (desk.workspace.run.parent_run_id, desk.workspace.run.parent_step) == (parent, 4)
    desk.pause()
    assert desk.state_config()[setting] == OTHERS[setting]
    desk.stop()


def test_that_without_a_snapshot_the_card_says_that_a_new_run_starts_over(desk, config):
    desk.start(replace(config, save_steps=0))
    desk.open_finding("num_generations")
    assert desk.card.remedy.first.text() == "New run with 8 answers for each prompt"
    assert "starts over" in desk.card.remedy.hint.text()
    desk.press_first()
    desk.wait(desk.window.form.isVisible)
    assert (desk.window.form.draft.branch, desk.window.form.draft.config.num_generations) == (None, 8)
    desk.stop()


def test_that_prompts_that_were_never_solved_are_left_out_of_a_copy_of_the_data(desk, config, tmp_path, monkeypatch):
    data, copy = tmp_path / "data.jsonl", tmp_path / "copy.jsonl"
    prompts = [f"Question {number}" for number in range(20)]
    data.write_text("".join(json.dumps({"prompt": one, "answer": "never this"}) + "\n" for one in prompts))
    exact = (RewardSpec("exact", "exact"),)
    few = replace(config, task="file", prompt_file=str(data), rewards=exact, prompts_per_step=1, num_generations=16)
    desk.start(replace(few, steps=ONSET + 1, eval_steps=0))
    desk.wait(lambda: not desk.workspace.is_training)
    desk.open_finding("prompt_file")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(copy), ""))
    desk.press_first()
    desk.wait(desk.window.form.isVisible)
    assert desk.window.form.draft.config.prompt_file == str(copy)
    asked = {
        group.prompt for step in range(1, ONSET + 2) for group in desk.read(lambda r, s=step: r.groups_of_step(1, s))
    }
    kept = {json.loads(line)["prompt"] for line in copy.read_text().splitlines()}
    assert kept == set(prompts) - asked


def test_that_a_broken_export_pauses_the_run_where_the_user_switched_that_on(desk, config, monkeypatch):
    save = LanguagePolicy.save

    def of_another_model(policy, folder):
        save(policy, folder)
        weights = load_file(folder / "model.safetensors")
        save_file({name: 1.01 * one for name, one in weights.items()}, folder / "model.safetensors", {"format": "pt"})

    monkeypatch.setattr(LanguagePolicy, "save", of_another_model)
    desk.workspace.use_settings(replace(desk.workspace.settings, pause_on_broken=True))
    said = []
    desk.workspace.problem.connect(lambda sentence, details: said.append(sentence))
    desk.workspace.start(replace(config, save_steps=20))
    desk.wait(lambda: desk.workspace.status is not None and desk.workspace.status.status is RunStatus.PAUSED)
    assert any("gives other answers than the one in training" in sentence for sentence in said)
    assert desk.workspace.run.steps_done >= 20
    desk.stop()
