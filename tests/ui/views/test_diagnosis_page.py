"""The page of the diagnosis and its what-if card, over a stored run that has findings."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from grpo_gui.store.reader import StoreReader
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui import health_watch
from grpo_gui.ui.health_watch import HealthWatch
from grpo_gui.ui.views.train_view import TrainView
from tests.ui.broken_run import hard_steps
from tests.ui.stored_run import stored_run

CONFIG = TrainConfig(num_generations=4, prompts_per_step=4)
LEFT = Qt.MouseButton.LeftButton
STEPS = 30


@pytest.fixture
def page(qtbot, stored, writer, monkeypatch):
    """The page, opened by a click on Details in the Learning cell."""
    monkeypatch.setattr(health_watch, "READ_MS", 20)
    run_id = stored_run(writer, CONFIG)
    for event in hard_steps(run_id, STEPS):
        writer.emit(event)
    assert writer.flush(10)
    view = TrainView(stored, HealthWatch(stored))
    qtbot.addWidget(view)
    view.resize(1190, 706)
    with qtbot.waitExposed(view):
        view.show()
    stored.select_run(run_id)
    qtbot.waitUntil(lambda: view.cells.health.headline.text() == "1 finding" and view.plots.isVisible())
    qtbot.mouseClick(view.cells.learning.link, LEFT)
    qtbot.waitUntil(view.diagnosis.isVisible)
    qtbot.waitUntil(lambda: bool(view.diagnosis.learning.sentences[0].text()))
    yield view
    view.diagnosis.what_if.job.cancel()


def test_that_the_page_says_all_that_is_known(page):
    shown = page.diagnosis
    assert shown.findings_card.header.hint.text() == "1 open"
    assert [row._words[0] for row in shown.findings.rows if row.isVisible()] == ["Dead groups", "Few answers count"]
    assert shown.learning.sentences[0].text() == "Held-out accuracy: not enough data yet."
    (of_no_record,) = (line for line in shown._missing.text().splitlines() if line.startswith("Not recorded"))
    assert "careless ratings" in of_no_record


@pytest.mark.parametrize("by_key", [True, False])
def test_that_the_plots_come_back(page, qtbot, by_key):
    if by_key:
        qtbot.keyClick(page.diagnosis.back, Qt.Key.Key_Escape)
    else:
        qtbot.mouseClick(page.diagnosis.back, LEFT)
    assert page.plots.isVisible()
    assert not page.diagnosis.isVisible()


def test_that_a_finding_of_the_list_opens_its_card_over_the_plots(page, qtbot):
    qtbot.mouseClick(page.diagnosis.findings.rows[1], LEFT)
    qtbot.waitUntil(page.findings.card.isVisible)
    assert page.findings.card.title.text() == "Few answers count"


def recompute(page, qtbot, curve, **texts):
    """Type into the fields, press the button, choose a curve; return the sentence."""
    card = page.diagnosis.what_if
    for name, text in texts.items():
        field = getattr(card.fields, name)
        field.clear()
        qtbot.keyClicks(field, text)
    qtbot.mouseClick(card.go, LEFT)
    qtbot.waitUntil(lambda: card.result is not None and not card.job.is_running)
    card.curve.setCurrentIndex(card.curve.findData(curve))
    return card.sentence.text()


def stored_rewards(page, tmp_path):
    """All rewards as (steps, prompts, answers)."""
    with StoreReader(tmp_path / "runs.db") as reader:
        run_id = page._workspace.run.id
        steps = [reader.groups_of_step(run_id, step) for step in range(1, STEPS + 1)]
        return np.array([[[one.reward for one in group.completions] for group in groups] for groups in steps])


def test_that_smaller_groups_die_as_often_as_pairs_drawn_from_them_do(page, qtbot, tmp_path):
    sentence = recompute(page, qtbot, "dead_groups", group_size="2")
    assert sentence.endswith("in place of 75.0 %, mean of 30 steps; recomputed, not trained.")
    rewards = stored_rewards(page, tmp_path)
    pairs = [rewards[..., first] == rewards[..., second] for first in range(4) for second in range(first)]
    result = page.diagnosis.what_if.result.changed
    assert result.dead_groups.mean() == pytest.approx(np.mean(pairs), abs=0.02)  # 20 random draws a step
    assert page.diagnosis.what_if.plot.isVisible()


def test_that_unscaled_advantages_are_rewards_less_their_mean(page, qtbot, tmp_path):
    fields = page.diagnosis.what_if.fields
    fields.scale.setCurrentIndex(fields.scale.findData("none"))
    recompute(page, qtbot, "advantage_std")
    rewards = stored_rewards(page, tmp_path)
    advantages = rewards - rewards.mean(axis=2, keepdims=True)
    expected = advantages.reshape(STEPS, -1).std(axis=1, ddof=1)
    np.testing.assert_allclose(page.diagnosis.what_if.result.changed.advantage_std, expected, rtol=1e-6)


def test_that_narrower_limits_clip_the_tokens_that_lie_outside(page, qtbot):
    sentence = recompute(page, qtbot, "clip_low", epsilon="0.05")
    # three wrong answers in one group of four have A < 0, and of their three tokens one fell to exp(-0.1)
    assert sentence.startswith("Share of tokens clipped low: 6.2 % in place of 0.0 %")
    np.testing.assert_allclose(page.diagnosis.what_if.result.changed.clip_low, 3 / 48)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("8", "The stored groups hold 4 answers, so a group size of 8 cannot be recomputed; choose at most 4."),
        ("two", "Answers for each prompt must be a whole number; it is two."),
    ],
)
def test_that_what_cannot_be_recomputed_is_a_sentence(page, qtbot, typed, said):
    card = page.diagnosis.what_if
    qtbot.keyClicks(card.fields.group_size, typed)
    qtbot.keyClick(card.fields.group_size, Qt.Key.Key_Return)
    qtbot.waitUntil(card.problem.isVisible)
    assert card.problem.text() == said
    assert card.go.isEnabled()


def test_that_scrolling_the_page_past_a_choice_does_not_change_it(page):
    choice = page.diagnosis.what_if.fields.scale
    notch = QWheelEvent(
        QPointF(5, 5),
        QPointF(choice.mapToGlobal(QPoint(5, 5))),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    for focused, chosen in ((False, 0), (True, 1)):
        if focused:
            choice.setFocus()
        QApplication.sendEvent(choice, notch)
        assert choice.currentIndex() == chosen
