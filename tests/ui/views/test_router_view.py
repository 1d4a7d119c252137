from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QShortcut
from PySide6.QtWidgets import QApplication, QDialog

from grpo_gui.router.context import context_from_text
from grpo_gui.router.rewards import TradeOff
from grpo_gui.store.records_router import DecisionQuery, DecisionRecord, WeightPoint
from grpo_gui.ui.router_engine import Candidate
from grpo_gui.ui.views.router_view import RouterView
from grpo_gui.ui.widgets.router_dialogs import (
    EndpointDialog,
    FeaturesDialog,
    RemoveDialog,
    RenameDialog,
    SnapshotModelDialog,
)
from tests.ui.fakes import run_record
from tests.ui.router_fakes import EXPERTS, FakeRouterEngine

QUERY = "Calculate 3 + 4"


@pytest.fixture
def engine():
    return FakeRouterEngine("base", "expert-compare", "expert-sort", "far")


@pytest.fixture
def problems(workspace):
    told = []
    workspace.problem.connect(lambda sentence, _: told.append(sentence))
    return told


@pytest.fixture
def make_view(workspace, fake_reader, qtbot):
    fake_reader.router_weights = lambda query_class, model: (WeightPoint(1, 0.25), WeightPoint(4, 0.75))

    def make(engine, width=1360, height=800):
        view = RouterView(workspace, engine)
        view.resize(width, height)
        qtbot.addWidget(view)
        with qtbot.waitExposed(view):
            view.show()
        view.activateWindow()
        return view

    return make


@pytest.fixture
def view(make_view, engine):
    return make_view(engine)


def ask(qtbot, view, query=QUERY):
    view.query.field.selectAll()
    qtbot.keyClicks(view.query.field, query)
    qtbot.keyClick(view.query.field, Qt.Key.Key_Return)


def press(qtbot, view, *keys):
    for key in keys:
        qtbot.keyClick(view.answers, key)


def rate_all(qtbot, view, *keys):
    press(qtbot, view, *keys, Qt.Key.Key_Return)


def stars_by_model(view):
    return {answer.model: answer.stars for answer in view.desk.board.answers}


def shown_texts(view):
    cards = view.answers.cards[: len(view.desk.board.answers)]
    return " ".join(part for card in cards for part in (card.title.text(), card.state.text(), card.accessibleName()))


# --- the empty state


def test_that_without_a_model_there_is_one_sentence_and_one_button_that_makes_it_work(make_view, qtbot):
    engine = FakeRouterEngine()
    view = make_view(engine)
    assert view.empty.isVisible()
    assert not view.query.isVisible()
    qtbot.mouseClick(view.empty.action, Qt.MouseButton.LeftButton)
    assert view.query.isVisible()
    assert tuple(model.name for model in engine.models) == EXPERTS
    assert view.query.field.hasFocus()


def test_that_before_the_first_rating_a_sentence_stands_for_map_and_curves(view):
    assert not view.learned.weights.isVisible()
    assert not view.learned.regret.isVisible()
    assert not view.answers.isVisible()


# --- the query


def test_that_typing_explains_class_features_and_models(view, qtbot):
    qtbot.keyClicks(view.query.field, QUERY)
    qtbot.waitUntil(lambda: view.query.query_class.text() == "math")
    assert view.query.reason.text() == "because it says “Calculate”"
    assert view.query.features.text() == "15 characters, 4 words, no code, mathematics"
    rows = view.choice.table.choices.rows
    assert len(rows) == 4
    assert all(row.known is not None for row in rows)
    assert "No answer is rated yet" in view.choice.why.text()


def test_that_a_row_says_why_its_model_has_its_probability(view, qtbot):
    qtbot.keyClicks(view.query.field, QUERY)
    qtbot.waitUntil(lambda: view.choice.table.choices.rows[0].known is not None)
    view.choice.table.selectRow(1)
    name = view.choice.table.choices.rows[1].model
    assert view.choice.why.text().startswith(f"{name}: It has no rating in math")


def test_that_an_empty_query_cannot_be_asked(view, qtbot, engine):
    assert not view.query.ask.isEnabled()
    qtbot.keyClick(view.query.field, Qt.Key.Key_Return)
    qtbot.keyClicks(view.query.field, "   ")
    qtbot.keyClick(view.query.field, Qt.Key.Key_Return)
    assert engine.records == []


def test_that_shift_enter_begins_a_new_line(view, qtbot, engine):
    qtbot.keyClicks(view.query.field, "one")
    qtbot.keyClick(view.query.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(view.query.field, "two")
    assert view.query.text == "one\ntwo"
    assert engine.records == []


def test_that_what_cannot_be_asked_says_so_and_can_be_asked_again(view, qtbot, engine, problems):
    engine.refusal = "No model can answer now; see which are dead."
    ask(qtbot, view)
    assert problems == ["No model can answer now; see which are dead."]
    assert view.query.ask.text() == "Ask 4 models"
    ask(qtbot, view)
    assert len(engine.records) == 1


# --- answers


def test_that_answers_stream_side_by_side_and_blind(view, qtbot, engine):
    ask(qtbot, view)
    assert view.answers.isVisible()
    assert view.answers.hasFocus()
    assert view.query.ask.text() == "Stop"
    engine.say(engine.asked[0], "half an ans")
    engine.say(engine.asked[0], "half an answer", tokens=2)
    place = next(i for i, answer in enumerate(view.desk.board.answers) if answer.model == engine.asked[0])
    assert view.answers.cards[place].text.toPlainText() == "half an answer"
    assert view.answers.cards[place].state.text() == "streaming, 2 tokens"
    assert not any(model.name in shown_texts(view) for model in engine.models)


def test_that_the_whole_round_works_by_keys(view, qtbot, engine):
    ask(qtbot, view)
    engine.finish_all()
    rate_all(qtbot, view, Qt.Key.Key_5, Qt.Key.Key_4, Qt.Key.Key_1, Qt.Key.Key_2)
    assert engine.calls[-1] == ("rate", 1, stars_by_model(view))
    assert sorted(stars_by_model(view).values()) == [1, 2, 4, 5]
    assert all(model.name in shown_texts(view) for model in engine.models)
    assert view.query.field.hasFocus()
    assert view.query.field.textCursor().selectedText() == QUERY


def test_that_map_and_regret_move_at_once_after_a_rating(view, qtbot, engine):
    ask(qtbot, view)
    engine.finish_all()
    rate_all(qtbot, view, *[Qt.Key.Key_3] * 3, Qt.Key.Key_5)
    weights = view.learned.weights.map.weights
    assert view.learned.weights.isVisible()
    assert weights.classes == ("math",)
    best = next(model for model, stars in stars_by_model(view).items() if stars == 5)
    row = dict(zip(weights.models, weights.weights[0], strict=True))
    assert row[best] == max(row.values()) > 0
    assert view.learned.regret.header.value.text() != ""
    before = view.learned.regret.plot.accessibleDescription()
    ask(qtbot, view)
    engine.finish_all()
    rate_all(qtbot, view, *[Qt.Key.Key_1] * 4)
    assert view.learned.regret.plot.accessibleDescription() != before
    assert "after 2 rated decisions" in view.learned.regret.plot.accessibleDescription()


def test_that_the_current_answer_is_bordered_and_moves_by_tab_and_arrows(view, qtbot, engine):
    ask(qtbot, view)
    engine.finish_all()

    def bordered():
        return [card.letter.text() for card in view.answers.cards if card.property("look") == "card-chosen"]

    assert bordered() == ["A"]
    press(qtbot, view, Qt.Key.Key_Tab)
    assert bordered() == ["B"]
    press(qtbot, view, Qt.Key.Key_Right, Qt.Key.Key_Right)
    assert bordered() == ["D"]
    press(qtbot, view, Qt.Key.Key_Backtab, Qt.Key.Key_Left)
    assert bordered() == ["B"]


def test_that_tab_leaves_the_answers_after_the_last_one(view, qtbot, engine):
    ask(qtbot, view)
    press(qtbot, view, *[Qt.Key.Key_Tab] * 3)
    assert view.answers.hasFocus()
    press(qtbot, view, Qt.Key.Key_Tab)
    assert not view.answers.hasFocus()


def test_that_the_mouse_rates_too(view, qtbot, engine):
    ask(qtbot, view)
    engine.finish_all()
    for card, stars in zip(view.answers.cards, (2, 5, 3, 1), strict=True):
        qtbot.mouseClick(card.buttons[stars], Qt.MouseButton.LeftButton)
    qtbot.mouseClick(view.answers.submit, Qt.MouseButton.LeftButton)
    assert sorted(engine.calls[-1][2].values()) == [1, 2, 3, 5]


def test_that_space_skips_and_backspace_takes_back(view, qtbot, engine):
    ask(qtbot, view)
    engine.finish_all()
    press(qtbot, view, Qt.Key.Key_5, Qt.Key.Key_Space)
    assert view.answers.cards[1].title.text() == "skipped"
    press(qtbot, view, Qt.Key.Key_Backspace)
    assert view.answers.cards[1].title.text() == "rate now: 1 to 5"
    rate_all(qtbot, view, Qt.Key.Key_4, Qt.Key.Key_Space, Qt.Key.Key_Space)
    assert sorted(engine.calls[-1][2].values()) == [4, 5]


def test_that_the_space_bar_does_not_pause_the_training_while_answers_are_rated(view, qtbot, engine):
    paused = []
    shortcut = QShortcut(Qt.Key.Key_Space, view, lambda: paused.append(1))
    ask(qtbot, view, "a b")
    assert view.query.text == "a b"
    engine.finish_all()
    press(qtbot, view, Qt.Key.Key_Space)
    assert paused == []
    assert view.desk.board.answers[0].is_skipped
    shortcut.setEnabled(False)


def test_that_all_skipped_shows_the_names_and_teaches_nothing(view, qtbot, engine):
    ask(qtbot, view)
    engine.finish_all()
    rate_all(qtbot, view, *[Qt.Key.Key_Space] * 4)
    assert not any(call[0] == "rate" for call in engine.calls)
    assert all(model.name in shown_texts(view) for model in engine.models)


def test_that_enter_waits_until_all_answers_are_there(view, qtbot, engine):
    ask(qtbot, view)
    engine.finish(engine.asked[0], "quick")
    rate_all(qtbot, view, *[Qt.Key.Key_3] * 4)
    assert not any(call[0] == "rate" for call in engine.calls)
    assert "still coming" in view.answers.submit.toolTip()
    engine.finish_all()
    press(qtbot, view, Qt.Key.Key_Return)
    assert engine.calls[-1][0] == "rate"


def test_that_escape_stops_the_answers_and_the_begun_ones_can_be_rated(view, qtbot, engine):
    ask(qtbot, view)
    engine.say(engine.asked[0], "begun")
    press(qtbot, view, Qt.Key.Key_Escape)
    assert view.query.ask.text() == "Ask 4 models"
    begun = [card for card in view.answers.cards if card.buttons[1].isVisible()]
    assert [card.text.toPlainText() for card in begun] == ["begun"]
    rate_all(qtbot, view, Qt.Key.Key_4)
    assert engine.calls[-1] == ("rate", 1, {engine.asked[0]: 4})


def test_that_a_stopped_answer_says_so_and_its_card_stays_in_sight(view, qtbot, engine):
    ask(qtbot, view)
    engine.say(engine.asked[0], "begun " * 300)
    engine.tell_cancelled(engine.asked[0], "It was cancelled.")
    engine.finish_all()
    card = next(card for card in view.answers.cards if card.error.isVisible())
    assert card.error.text() == "It was cancelled."
    assert card.text.toPlainText().startswith("begun begun")
    assert card.buttons[1].isVisible()
    QApplication.processEvents()  # the layout
    assert card.mapTo(view.answers, card.rect().bottomLeft()).y() < view.answers.height()


def test_that_a_streaming_answer_is_read_from_its_beginning(view, qtbot, engine):
    ask(qtbot, view)
    for count in range(1, 60):
        engine.say(engine.asked[0], "line\n" * count)
    card = next(card for card in view.answers.cards if card.text.toPlainText())
    assert card.text.verticalScrollBar().maximum() > 0
    assert card.text.verticalScrollBar().value() == 0


def test_that_the_button_stops_the_answers_too(view, qtbot, engine):
    ask(qtbot, view)
    qtbot.mouseClick(view.query.ask, Qt.MouseButton.LeftButton)
    assert view.desk.board.is_complete
    assert view.query.ask.text() == "Ask 4 models"


def test_that_a_dead_endpoint_says_why_and_the_others_can_be_rated(view, qtbot, engine):
    ask(qtbot, view)
    engine.fail("far", "The endpoint does not answer; start its server.")
    engine.finish_all()
    card = next(card for card in view.answers.cards if card.error.isVisible())
    assert card.error.text() == "The endpoint does not answer; start its server."
    assert not card.buttons[1].isVisible()
    rate_all(qtbot, view, *[Qt.Key.Key_2] * 3)
    assert "far" not in engine.calls[-1][2]
    engine.kill("far", "The endpoint does not answer; start its server.")
    assert view.notice.text() == "The endpoint does not answer; start its server."
    assert view.query.ask.text() == "Ask 3 models"
    assert [(row.model, row.word) for row in view.choice.table.choices.rows if row.known is None] == [
        ("far", "no answer")
    ]


def test_that_ratings_that_could_not_be_kept_can_be_submitted_again(view, qtbot, engine, problems):
    ask(qtbot, view)
    engine.finish_all()
    engine.refusal = "The disk is full; make room, then submit again."
    rate_all(qtbot, view, *[Qt.Key.Key_2] * 4)
    assert problems == ["The disk is full; make room, then submit again."]
    assert view.answers.submit.isEnabled()
    press(qtbot, view, Qt.Key.Key_Return)
    assert view.query.field.hasFocus()
    assert engine.policy.state.groups


def test_that_long_and_foreign_answers_stay_plain_text(view, qtbot, engine):
    ask(qtbot, view)
    texts = ["<b>bold</b> & <script>", "这列火车\n\n第二段", "القطار يغادر", "word " * 5000]
    for name, text in zip(engine.asked, texts, strict=True):
        engine.finish(name, text)
    shown = {card.text.toPlainText() for card in view.answers.cards}
    assert shown == set(texts)


def test_that_a_narrow_window_stacks_the_answers(make_view, engine, qtbot):
    view = make_view(engine, 620, 700)
    ask(qtbot, view)
    qtbot.waitUntil(lambda: len({card.y() for card in view.answers.cards}) == 2)


# --- what was learned


def teach(engine, count=12, *, query="Calculate"):
    """Let the expert for comparing be right and all others wrong."""
    names = [model.name for model in engine.models]
    for number in range(count):
        decided = engine.policy.propose(context_from_text(f"{query} {number}"), names)
        engine.policy.rate(decided.decision, {m: 1.0 if m == "expert-compare" else 0.25 for m in decided.asked})
    engine.change()


def test_that_a_click_on_a_cell_explains_it(view, qtbot, engine):
    teach(engine)
    map_ = view.learned.weights.map
    place = map_.weights.models.index("expert-compare")
    qtbot.mouseClick(map_, Qt.MouseButton.LeftButton, pos=map_.cell_rect(0, place).center())
    words = view.learned.weights.words
    assert words.text().startswith("expert-compare is the first choice for math: weight +")
    qtbot.waitUntil(lambda: "It moved 2 times, from +0.25 at decision 1 to +0.75 at decision 4" in words.text())


def test_that_the_arrow_keys_walk_over_the_map(view, qtbot, engine):
    teach(engine)
    map_ = view.learned.weights.map
    qtbot.keyClick(map_, Qt.Key.Key_Right)
    assert map_.chosen == (map_.weights.classes[0], map_.weights.models[0])
    qtbot.keyClick(map_, Qt.Key.Key_Right)
    assert map_.chosen == (map_.weights.classes[0], map_.weights.models[1])
    qtbot.keyClick(map_, Qt.Key.Key_Left)
    qtbot.keyClick(map_, Qt.Key.Key_Left)
    assert map_.chosen == (map_.weights.classes[0], map_.weights.models[0])


def test_that_the_router_prefers_the_expert_that_was_rated_well(view, qtbot, engine):
    teach(engine, 20)
    qtbot.keyClicks(view.query.field, "Calculate 99")
    qtbot.waitUntil(lambda: bool(view.choice.table.choices.rows[0].known))
    rows = view.choice.table.choices.rows
    assert rows[0].model == "expert-compare"
    assert rows[0].known.probability > 0.5
    assert "expert-compare leads with quality" in view.choice.why.text()


def test_that_the_slider_recomputes_map_and_regret_from_what_is_stored(view, qtbot, engine):
    engine.models = [replace(m, cost_per_1000_tokens=100.0 if m.name == "base" else 0.0) for m in engine.models]
    engine.change()
    for _ in range(4):
        ask(qtbot, view)
        engine.finish_all()
        rate_all(qtbot, view, *[Qt.Key.Key_4] * 4)
    before = view.learned.weights.map.weights
    slider = view.learned.side.cost.slider
    slider.setFocus()
    qtbot.keyClick(slider, Qt.Key.Key_PageUp)
    qtbot.keyClick(slider, Qt.Key.Key_PageUp)
    qtbot.waitUntil(lambda: engine.policy.state.trade_off == TradeOff(0.8, 0.0))
    after = view.learned.weights.map.weights
    base = after.models.index("base")
    assert after.weights[0][base] < before.weights[0][base]
    assert after.qualities == before.qualities
    assert view.learned.side.cost.value.text() == "0.80"


def test_that_modes_are_switched_and_locked_ratings_wait(view, qtbot, engine):
    view.query.mode.choose("locked")
    assert engine.policy.state.mode == "locked"
    ask(qtbot, view)
    engine.finish_all()
    rate_all(qtbot, view, *[Qt.Key.Key_4] * 4)
    assert view.query.number.text() == "blind, 1 decision, 4 ratings wait"
    assert not view.learned.weights.isVisible()
    view.query.mode.choose("learn")
    assert view.learned.weights.isVisible()


def test_that_a_refused_mode_is_told_and_the_old_one_shown(view, qtbot, engine, problems):
    engine.refusal = "The database is read-only."
    view.query.mode.choose("shadow")
    assert problems == ["The database is read-only."]
    engine.change()
    assert view.query.mode.value == "learn"


def test_that_the_candidate_shows_its_gain_and_can_be_promoted_only_when_it_is_better(view, qtbot, engine):
    side = view.learned.side
    assert not side.promote.isEnabled()
    engine.candidate = Candidate(40, 0.012, -0.004, 0.028, False, 600, "It needs about 600 more ratings.")
    engine.change()
    assert side.gain.text() == "+0.012"
    assert side.interval.text() == "−0.004 to +0.028"
    assert (side.verdict.text(), side.sentence.text()) == ("not yet better", "It needs about 600 more ratings.")
    assert not side.promote.isEnabled()
    engine.candidate = Candidate(90, 0.03, 0.01, 0.05, True, None, "It is better.")
    engine.change()
    qtbot.mouseClick(side.promote, Qt.MouseButton.LeftButton)
    assert engine.calls[-1] == ("promote",)
    assert not side.roll_back.isEnabled()


def test_that_drift_raises_the_alarm_in_words(view, engine):
    teach(engine, 20)
    assert view.learned.side.drift.text() == "No drift"
    names = [model.name for model in engine.models]
    for number in range(40):
        decided = engine.policy.propose(context_from_text(f"Calculate {number}"), names)
        engine.policy.rate(decided.decision, {m: 0.0 if m == "expert-compare" else 0.25 for m in decided.asked})
    engine.change()
    assert view.learned.side.drift.text() == "Drift"
    assert "expert-compare became worse" in view.learned.side.drift_details.text()


# --- history


def test_that_the_history_is_searched_and_filled_page_by_page(view, qtbot, engine):
    for number in range(130):
        query = "Calculate it" if number % 2 else "say it"
        decided = engine.policy.propose(context_from_text(f"{query} {number}"), ["base", "far"])
        engine.records.append(DecisionRecord(1_700_000_000.0, decided, (), ()))
    view.show_page("history")
    history = view.history.history
    assert len(history.records) == 50
    view.history.table.scrollToBottom()
    qtbot.waitUntil(lambda: len(history.records) > 50)
    while history.canFetchMore():
        history.fetchMore()
    assert [record.decided.decision for record in history.records] == list(range(130, 0, -1))
    qtbot.keyClicks(view.history.search, "SAY IT 12")
    qtbot.waitUntil(lambda: len(history.records) == 6)
    assert {record.decided.query for record in history.records} == {
        f"say it {number}" for number in (12, 120, 122, 124, 126, 128)
    }


def test_that_a_chosen_decision_is_shown_in_full(view, qtbot, engine):
    ask(qtbot, view)
    engine.finish_all("the whole answer")
    rate_all(qtbot, view, *[Qt.Key.Key_4] * 4)
    view.show_page("history")
    text = view.history.details.toPlainText()
    assert text.startswith(QUERY)
    assert "Class math, because it says “Calculate”." in text
    assert "base: rated 4, probability" in text
    assert "the whole answer of 4" in text


def test_that_the_history_tells_no_names_while_they_are_rated(view, qtbot, engine):
    ask(qtbot, view)
    engine.finish_all()
    view.show_page("history")
    table = view.history.table.model()
    assert table.data(table.index(0, 4)) == "4 asked, being rated"
    assert "base" not in view.history.details.toPlainText()
    rate_all(qtbot, view, *[Qt.Key.Key_4] * 4)
    assert "base 4" in table.data(table.index(0, 4))
    assert "base: rated 4" in view.history.details.toPlainText()


def test_that_the_history_asks_only_while_it_is_seen(view, qtbot, engine):
    ask(qtbot, view)
    assert not any(call[0] == "history" for call in engine.calls)
    view.show_page("history")
    assert engine.calls[-1] == ("history", DecisionQuery(), None)


# --- models


def answer_dialog(monkeypatch, kind, fill):
    def exec_(dialog):
        fill(dialog)
        return QDialog.DialogCode.Accepted

    monkeypatch.setattr(kind, "exec", exec_)


def test_that_the_models_show_their_state_and_why_they_are_dead(view, engine):
    view.show_page("models")
    engine.kill("far", "The endpoint http://there/v1 does not answer; start its server.")
    table = view.models.table
    assert [table.item(row, 0).text() for row in range(table.rowCount())] == [m.name for m in engine.models]
    assert table.item(3, 4).text() == "dead: The endpoint http://there/v1 does not answer; start its server."
    assert view.notice.text() == ""


def test_that_a_dead_model_can_be_tried_again(view, qtbot, engine):
    view.show_page("models")
    view.models.table.setCurrentCell(3, 0)
    assert not view.models.retry.isEnabled()
    engine.kill("far", "It does not answer.")
    view.models.table.setCurrentCell(3, 0)
    qtbot.mouseClick(view.models.retry, Qt.MouseButton.LeftButton)
    assert engine.calls[-1] == ("retry", "far")


def test_that_an_endpoint_is_added_with_its_key_in_a_variable(view, qtbot, engine, monkeypatch):
    def fill(dialog):
        assert not dialog.act.isEnabled()
        dialog.url.setText("http://localhost:8000/v1")
        dialog.location.setText("org/SmolLM2")
        assert dialog.name.text() == "SmolLM2"
        dialog.key_source.setCurrentIndex(1)
        assert not dialog.act.isEnabled()
        dialog.variable.setText("MY_KEY")
        assert dialog.act.isEnabled()

    answer_dialog(monkeypatch, EndpointDialog, fill)
    view.show_page("models")
    qtbot.mouseClick(view.models.add_endpoint, Qt.MouseButton.LeftButton)
    new = engine.calls[-1][1]
    assert (new.name, new.location, new.endpoint_url) == ("SmolLM2", "org/SmolLM2", "http://localhost:8000/v1")
    assert (new.key, new.key_variable) == ("", "MY_KEY")
    assert "SmolLM2" in view.models.names


def test_that_a_key_for_the_keyring_is_hidden_and_handed_over_once(view, qtbot, engine, monkeypatch):
    def fill(dialog):
        dialog.location.setText("llama3.2")
        dialog.key_source.setCurrentIndex(2)
        qtbot.keyClicks(dialog.key, "secret")
        assert "secret" not in dialog.key.displayText()

    answer_dialog(monkeypatch, EndpointDialog, fill)
    qtbot.mouseClick(view.models.add_endpoint, Qt.MouseButton.LeftButton)
    new = engine.calls[-1][1]
    assert new.key == "secret"
    assert "secret" not in repr(new)


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://there/v1", "http://", ""])
def test_that_an_address_without_http_is_refused(qtbot, view, url):
    dialog = EndpointDialog(view, [])
    dialog.location.setText("llama3.2")
    dialog.url.setText(url)
    assert not dialog.act.isEnabled()
    assert dialog.act.toolTip() == "Give a base URL that begins with http:// or https://."
    dialog.deleteLater()


def test_that_a_snapshot_folder_is_added_under_a_free_name(view, qtbot, engine, tmp_path, fake_reader, monkeypatch):
    folder = tmp_path / "base"
    folder.mkdir()

    def fill(dialog):
        assert not dialog.act.isEnabled()
        dialog.folder.setText(str(folder))
        dialog.name.setText("base")
        assert dialog.act.toolTip() == "There is a model base already."
        dialog.name.setText("mine")

    answer_dialog(monkeypatch, SnapshotModelDialog, fill)
    fake_reader.runs = lambda: []
    qtbot.mouseClick(view.models.add_snapshot, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: any(call[0] == "add" for call in engine.calls))
    assert engine.calls[-1][1].location == str(folder)
    assert "mine" in view.models.names


def test_that_a_model_is_renamed_with_its_history(view, qtbot, engine, monkeypatch):
    teach(engine)
    answer_dialog(monkeypatch, RenameDialog, lambda dialog: dialog.name.setText("comparer"))
    view.show_page("models")
    view.models.table.setCurrentCell(1, 0)
    qtbot.keyClick(view.models.table, Qt.Key.Key_F2)
    assert "comparer" in view.models.names
    assert "comparer" in view.learned.weights.map.weights.models
    assert "expert-compare" not in view.learned.weights.map.weights.models


def test_that_a_removed_model_keeps_its_column_of_the_map(view, qtbot, engine, monkeypatch):
    teach(engine)
    answer_dialog(monkeypatch, RemoveDialog, lambda dialog: None)
    view.show_page("models")
    view.models.table.setCurrentCell(3, 0)
    qtbot.keyClick(view.models.table, Qt.Key.Key_Delete)
    assert "far" not in view.models.names
    assert "far" in view.learned.weights.map.weights.models
    assert view.query.ask.text() == "Ask 3 models"


def test_that_the_networks_training_curves_are_shown_in_the_train_view(view, qtbot, engine, workspace, fake_reader):
    assert not view.learned.side.run.isVisible()
    fake_reader.records[7] = run_record(7)
    engine.run_id = 7
    engine.change()
    asked = []
    workspace.view_requested.connect(asked.append)
    with qtbot.waitSignal(workspace.run_selected):
        qtbot.mouseClick(view.learned.side.run, Qt.MouseButton.LeftButton)
    assert asked == ["train"]


def test_that_escape_in_the_query_stops_the_answers(view, qtbot, engine):
    ask(qtbot, view)
    qtbot.keyClick(view.query.field, Qt.Key.Key_Escape)
    assert view.desk.board.is_complete


def test_that_many_classes_scroll_and_keep_the_names_in_sight(view, qtbot, engine):
    for place in range(40):
        decided = engine.policy.propose(context_from_text("q"), ["base", "far"], query_class=f"class {place:02}")
        engine.policy.rate(decided.decision, {"base": 1.0, "far": 0.0})
    engine.change()
    map_ = view.learned.weights.map
    map_.choose(39, 1)
    rect = map_.cell_rect(39, 1)
    assert map_.visibleRegion().boundingRect().contains(rect.center())
    qtbot.mouseClick(map_, Qt.MouseButton.LeftButton, pos=rect.center())
    assert map_.chosen == ("class 39", map_.weights.models[1])
    header = map_.visibleRegion().boundingRect().topLeft()
    qtbot.mouseClick(map_, Qt.MouseButton.LeftButton, pos=header)
    assert map_.chosen == ("class 39", map_.weights.models[1])


def test_that_the_network_is_let_see_embeddings_and_back(view, qtbot, engine, tmp_path, monkeypatch):
    def choose_folder(dialog):
        assert not dialog.act.isEnabled()
        dialog.source.setCurrentIndex(1)
        assert dialog.act.toolTip() == "There is no such folder."
        dialog.folder.setText(str(tmp_path))
        assert dialog.act.isEnabled()

    answer_dialog(monkeypatch, FeaturesDialog, choose_folder)
    assert view.learned.side.features.text() == "Sees hashed n-grams"
    qtbot.mouseClick(view.learned.side.features, Qt.MouseButton.LeftButton)
    assert engine.candidate.features == str(tmp_path)
    assert view.learned.side.features.text() == "Sees embeddings"
    answer_dialog(monkeypatch, FeaturesDialog, lambda dialog: dialog.source.setCurrentIndex(0))
    qtbot.mouseClick(view.learned.side.features, Qt.MouseButton.LeftButton)
    assert view.learned.side.features.text() == "Sees hashed n-grams"


def test_that_a_dialog_begins_in_its_first_field_and_tab_goes_down(view, qtbot):
    dialog = EndpointDialog(view, [])
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.open()
    dialog.activateWindow()
    for field in (dialog.url, dialog.location, dialog.name, dialog.key_source, dialog.cost):
        assert dialog.focusWidget() is field
        qtbot.keyClick(field, Qt.Key.Key_Tab)
    assert dialog.focusWidget().text() == "Cancel"
