"""Findings in the Train view: those that the real detectors have of a stored run, clicked and read by a person."""

from dataclasses import replace

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea

from grpo_gui.training.config import TrainConfig
from grpo_gui.ui import health_watch
from grpo_gui.ui.health_watch import HealthWatch
from grpo_gui.ui.views.train_view import TrainView
from tests.ui.broken_run import broken_steps, hard_steps
from tests.ui.stored_run import stored_run

CONFIG = TrainConfig(num_generations=4, prompts_per_step=4)
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture(autouse=True)
def _hurry(monkeypatch):
    monkeypatch.setattr(health_watch, "READ_MS", 20)


@pytest.fixture
def opened(qtbot, stored, writer):
    """The Train view, as wide as in a window of 1280 x 800, with a run that has findings."""

    def show(events=hard_steps, config=CONFIG, size=(1190, 706)) -> TrainView:
        run_id = stored_run(writer, config)
        for event in events(run_id):
            writer.emit(event)
        assert writer.flush(10)
        view = TrainView(stored, HealthWatch(stored))
        qtbot.addWidget(view)
        view.resize(*size)
        with qtbot.waitExposed(view):
            view.show()
        stored.select_run(run_id)
        qtbot.waitUntil(lambda: not view.model.is_loading and bool(view.model.series.newest_step))
        qtbot.waitUntil(lambda: view.cells.health.headline.text() == "1 finding" and view.plots.isVisible())
        return view

    return show


@pytest.fixture
def carded(opened, qtbot):
    """The same, with the card of its finding opened by a click in the Health cell."""

    def show(*given, **named):
        view = opened(*given, **named)
        qtbot.mouseClick(view.cells.health.link, LEFT)
        card = view.findings.card
        qtbot.waitUntil(card.isVisible)
        return view, card

    return show


def test_that_the_health_cell_says_what_is_wrong_and_since_when(opened):
    view = opened()
    assert view.cells.health.headline.text() == "1 finding"
    assert view.cells.health.accessibleName() == (
        "Health: 1 finding warning, since step 20, Dead groups: 75 % of the groups in the last 20 steps taught nothing."
    )
    assert view.cells.health.toolTip().startswith("Dead groups (since step 20): 75 % of the groups")


def test_that_the_card_says_the_numbers_and_draws_what_was_measured(carded):
    view, card = carded()
    assert card.title.text() == "Dead groups"
    assert card.pill.text() == "warning"
    assert card.headline.text() == "75 % of the groups in the last 20 steps taught nothing."
    assert "in 75 % every answer was wrong. The alarm is at 50 %." in card.detail.text()
    assert card.causes.text() == "1  The prompts are too hard: not one of the answers to them is right."
    assert card._measure.text() == "Share of groups with equal rewards, mean of 20 steps"
    assert card.plot._alarm.value() == 0.5
    assert card.plot._onset_line.value() == view.plots.axis.place(20)
    steps, values = view.watch.health.curves["dead_groups"]
    np.testing.assert_array_equal(values, 0.75)
    assert steps[-1] == 30


def test_that_how_it_is_computed_is_said_on_demand(carded, qtbot):
    _, card = carded()
    assert not card.computed.isVisible()
    qtbot.mouseClick(card.computed_link, LEFT)
    assert card.computed.isVisible()
    assert "It must hold on 5 readings in a row." in card.computed.text()


def test_that_the_answers_that_show_it_are_a_click_away(carded, stored, qtbot):
    view, card = carded()
    qtbot.waitUntil(lambda: any(row.isVisible() for row in card.samples.rows))
    (finding,) = view.watch.health.open
    shown = [row.line for row in card.samples.rows if row.isVisible()]
    assert [(one.ref.group.step, one.ref.group.index) for one in shown] == [
        (ref.step, ref.group) for ref in finding.evidence
    ]
    assert shown[0].rewards == (0.0,) * 4
    told = []
    stored.view_requested.connect(told.append)
    stored.completion_selected.connect(told.append)
    qtbot.mouseClick(card.samples.rows[1], LEFT)
    assert told == ["completions", shown[1].ref]
    with qtbot.waitSignal(stored.completions_asked) as asked:
        qtbot.mouseClick(card.all_link, LEFT)
    steps = [ref.step for ref in finding.evidence]
    assert (asked.args[0].min_step, asked.args[0].max_step) == (min(steps), max(steps))


def test_that_the_button_fills_the_form_with_what_is_proposed(carded, stored, qtbot):
    _, card = carded()
    qtbot.waitUntil(card.remedy.first.isVisible)
    assert card.remedy.sentence.text().startswith("Sample 16 answers for each prompt instead of 4")
    assert card.remedy.first.text() == "New run with 16 answers for each prompt"
    assert not card.remedy.second.isVisible()
    with qtbot.waitSignal(stored.form_asked) as asked:
        qtbot.mouseClick(card.remedy.first, LEFT)
    assert asked.args[0] == replace(CONFIG, num_generations=16)


def test_that_a_muted_finding_is_put_away_and_can_be_taken_back(carded, qtbot):
    view, card = carded()
    qtbot.mouseClick(card.mute, LEFT)
    qtbot.waitUntil(lambda: view.cells.health.headline.text() != "1 finding")
    assert card.pill.text() == "muted"
    assert card.mute.text() == "Hear of it again"
    assert view.findings.list.rows[-1]._words[2] == "muted"
    qtbot.mouseClick(card.mute, LEFT)
    qtbot.waitUntil(lambda: view.cells.health.headline.text() == "1 finding")
    assert card.mute.text() == "Mute for this run"


def test_that_escape_gives_the_plots_back(carded, qtbot):
    view, card = carded()
    assert not view.plots.cards["kl"].isVisible()
    assert view.plots.cards["reward"].isVisible()
    qtbot.waitUntil(card.close_button.hasFocus)
    qtbot.keyClick(card.close_button, Qt.Key.Key_Escape)
    assert not card.isVisible()
    assert view.plots.cards["kl"].isVisible()
    assert view.plots.cards["reward"].area.hasFocus()


def test_that_the_finding_is_marked_on_the_axis_of_every_plot(opened, qtbot):
    view = opened()
    view.plots.clock.draw_all()
    place = view.plots.axis.place(20)
    for key in ("reward", "advantage", "kl"):
        items = view.plots.cards[key].area.scene().items()
        lines = [one for one in items if isinstance(one, pg.InfiniteLine) and one.angle == 90 and one.isVisible()]
        assert place in [line.value() for line in lines], key
        names = [one.toPlainText() for one in items if isinstance(one, pg.TextItem)]
        assert ("dead groups" in names) == (key == "reward"), key
    tints = [one for one in view.plots.cards["reward"].area.scene().items() if isinstance(one, pg.LinearRegionItem)]
    assert not any(one.isVisible() for one in tints)
    qtbot.mouseClick(view.findings.list.rows[0], LEFT)
    view.plots.clock.draw_all()
    assert [one.getRegion() for one in tints if one.isVisible()] == [(place, view.plots.axis.place(30))]


def test_that_a_root_leads_to_its_symptoms_and_back(carded, qtbot):
    view, card = carded()
    (symptom,) = view.watch.health.symptoms_of("dead_groups")
    (link,) = (card._symptoms.itemAt(place).widget() for place in range(1, card._symptoms.count()))
    assert (symptom.detector, link.text()) == ("small_batch", "few answers count")
    qtbot.mouseClick(link, LEFT)
    assert (card.title.text(), card.pill.text()) == ("Few answers count", "caused by another finding")
    assert card.headline.text() == "Only about 3 of 16 answers count in each update."
    assert card.root_link.text() == "Caused by: dead groups"
    qtbot.mouseClick(card.root_link, LEFT)
    assert card.title.text() == "Dead groups"
    assert not card.root_link.isVisible()


@pytest.mark.parametrize("events", [hard_steps, broken_steps])
def test_that_nothing_of_the_card_is_cut_off_in_a_window_of_1280_by_800(carded, qtbot, events):
    view, card = carded(events)
    qtbot.waitUntil(lambda: any(row.isVisible() for row in card.samples.rows) or card._no_samples.isVisible())
    scroll = card.findChild(QScrollArea)
    qtbot.waitUntil(lambda: scroll.verticalScrollBar().maximum() == 0)
    assert view.plots.grid.verticalScrollBar().maximum() == 0
    assert view.plots.cards["reward"].height() >= 120
