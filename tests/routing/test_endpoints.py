"""Endpoints that answer, and all the ways in which they do not: a sentence each, and the key nowhere."""

import logging
import socket
import threading

import pytest

from grpo_gui.errors import BadInputError, MissingExtraError
from grpo_gui.router_events import RouterAnswered, RouterModelAdded
from grpo_gui.routing import model_list
from grpo_gui.routing.answers import NoAnswerError, StoppedError, Wanted
from grpo_gui.routing.endpoints import Endpoint, KeyMask, checked_url
from grpo_gui.routing.model_list import is_tried
from grpo_gui.store.reader import StoreReader

KEY = "sk-very-secret-0123456789"


def answer(server, behaviour, *, key_source="", limit_s=5.0):
    pieces = []
    endpoint = Endpoint("far", server.url(behaviour), "m", key_source)
    tokens = endpoint.answer(Wanted("Which?", 0, limit_s), lambda piece, _: pieces.append(piece))
    return "".join(pieces), tokens


def test_that_an_answer_streams_and_its_tokens_are_those_that_the_server_counted(server):
    assert answer(server, "good") == ("Forty-two", 7)
    ((path, authorization, body),) = server.requests
    assert path == "/good/v1/chat/completions"
    assert authorization == "Bearer none"
    assert body == {"messages": [{"role": "user", "content": "Which?"}], "model": "m", "stream": True}


@pytest.mark.parametrize(
    ("behaviour", "sentence", "is_dead"),
    [
        ("unauthorized", "refuses the key", True),
        ("forbidden", "refuses the key", True),
        ("unknown", "does not know the model m", True),
        ("busy", "too often", True),
        ("ill", "status 500", True),
        ("html", "no answer of an OpenAI-compatible endpoint", True),
        ("nonsense", "no answer of an OpenAI-compatible endpoint", True),
        ("shapeless", "no answer of an OpenAI-compatible endpoint", True),
        ("bytes", "no answer of an OpenAI-compatible endpoint", True),
        ("scolding", "no answer of an OpenAI-compatible endpoint", True),
        ("half", "broke off in the middle", False),
    ],
)
def test_that_every_way_of_not_answering_has_a_sentence_without_the_key(
    server, monkeypatch, behaviour, sentence, is_dead
):
    monkeypatch.setenv("FAR_KEY", KEY)
    with pytest.raises(NoAnswerError, match=sentence) as raised:
        answer(server, behaviour, key_source="env:FAR_KEY")
    assert raised.value.is_dead is is_dead
    assert KEY not in str(raised.value)


def test_that_a_server_that_is_not_there_is_dead():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    endpoint = Endpoint("far", url, "m", "")
    with pytest.raises(NoAnswerError, match="cannot be reached") as raised:
        endpoint.check()
    assert raised.value.is_dead


def test_that_a_server_that_says_nothing_is_dead_after_the_time_limit(server):
    with pytest.raises(NoAnswerError, match="did not answer in time") as raised:
        answer(server, "silent", limit_s=0.2)
    assert raised.value.is_dead


def test_that_a_server_without_a_list_of_models_counts_as_alive_and_one_that_refuses_does_not(server):
    Endpoint("far", server.url("listless"), "m", "").check()
    with pytest.raises(NoAnswerError, match="refuses the key"):
        Endpoint("far", server.url("unauthorized"), "m", "").check()


def test_that_an_answer_that_is_no_longer_wanted_ends_the_request(server):
    def stop(_piece, _tokens):
        raise StoppedError

    with pytest.raises(StoppedError):
        Endpoint("far", server.url("good"), "m", "").answer(Wanted("Which?", 0, 5.0), stop)


def test_that_the_key_of_the_variable_is_sent_and_a_missing_one_is_named(server, monkeypatch):
    monkeypatch.setenv("FAR_KEY", KEY)
    answer(server, "good", key_source="env:FAR_KEY")
    assert server.requests[-1][1] == f"Bearer {KEY}"
    monkeypatch.delenv("FAR_KEY")
    with pytest.raises(NoAnswerError, match="FAR_KEY is not set"):
        answer(server, "good", key_source="env:FAR_KEY")


def test_that_a_key_that_a_server_repeats_is_masked_however_it_is_cut():
    for size in range(1, len(KEY) + 1):
        mask = KeyMask(KEY)
        text = f"<{KEY}> and sk-very"
        shown = "".join(mask.feed(text[i : i + size]) for i in range(0, len(text), size)) + mask.rest()
        assert shown == "<•••> and sk-very"


def test_that_text_without_a_key_is_shown_at_once():
    assert KeyMask("").feed("sk-very") == "sk-very"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000",
        "ftp://host/v1",
        "http://",
        "http://user:secret@host/v1",
        "http://host/v1?key=secret",
        "http://host/v1#secret",
        "http://ho st/v1",
        "http://host:port/v1",
    ],
)
def test_that_an_address_that_is_none_or_could_hold_a_key_is_refused_without_repeating_it(url):
    with pytest.raises(BadInputError) as raised:
        checked_url(url)
    assert "secret" not in str(raised.value)


def test_that_an_address_is_kept_without_its_last_slash():
    assert checked_url(" http://localhost:11434/v1/ ") == "http://localhost:11434/v1"


def test_that_a_missing_client_names_the_install_command(opened, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    with pytest.raises(MissingExtraError, match=r"grpo-gui\[router\]"):
        opened.service.add_endpoint("far", "http://localhost/v1", "m")


def test_that_the_key_is_neither_in_the_database_nor_in_the_log_nor_in_what_is_shown(
    opened, ask, server, monkeypatch, caplog
):
    monkeypatch.setenv("FAR_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    shown = []
    for behaviour in ("good", "echo", "unauthorized", "half"):
        opened.service.add_endpoint(behaviour, server.url(behaviour), "m", key_variable="FAR_KEY")
    for _ in range(2):
        decided, ended = ask("Which?", count=4)
        shown += [repr(ended), repr(decided), repr(opened.service.models.all())]
    opened.service.rate(decided.decision, {"echo": 3})
    assert ended["echo"].text == "You sent Bearer ••• to me"
    opened.writer.flush()
    files = [path.read_bytes() for path in opened.path.parent.iterdir()]
    assert any(b"FAR_KEY" in data for data in files)
    assert not any(KEY.encode() in data for data in files)
    assert KEY not in "".join(shown)
    assert KEY not in caplog.text
    assert "openai" in caplog.text  # the client did speak


def test_that_a_key_goes_to_the_keyring_and_comes_from_there(opened, ask, server, monkeypatch):
    keyring = pytest.importorskip("keyring", reason="needs the router extra")
    kept = {}
    monkeypatch.setattr(keyring, "set_password", lambda *entry: kept.__setitem__(entry[:2], entry[2]))
    monkeypatch.setattr(keyring, "get_password", lambda *entry: kept.get(entry))
    opened.service.add_endpoint("far", server.url("good"), "m", key=KEY)
    assert kept == {("grpo-gui", server.url("good")): KEY}
    assert ask("Which?")[1]["far"].state == "done"
    assert server.requests[-1][1] == f"Bearer {KEY}"
    opened.writer.flush()
    assert not any(KEY.encode() in path.read_bytes() for path in opened.path.parent.iterdir())
    kept.clear()
    assert "holds no key" in ask("Which?")[1]["far"].sentence


def test_that_a_key_leaves_the_keyring_with_the_last_model_that_needs_it(opened, server, monkeypatch):
    keyring = pytest.importorskip("keyring", reason="needs the router extra")
    kept = {}
    monkeypatch.setattr(keyring, "set_password", lambda *entry: kept.__setitem__(entry[:2], entry[2]))
    monkeypatch.setattr(keyring, "get_password", lambda *entry: kept.get(entry))
    monkeypatch.setattr(keyring, "delete_password", lambda *entry: kept.pop(entry))
    opened.service.add_endpoint("one", server.url("good"), "m", key=KEY)
    opened.service.add_endpoint("two", server.url("good"), "n", key=KEY)
    opened.service.remove_model("one")
    assert len(kept) == 1
    opened.service.remove_model("two")
    assert kept == {}


def test_that_a_system_without_a_keyring_says_what_else_to_do(opened, server, monkeypatch):
    keyring = pytest.importorskip("keyring", reason="needs the router extra")

    def refuse(*_):
        raise keyring.errors.NoKeyringError

    monkeypatch.setattr(keyring, "set_password", refuse)
    with pytest.raises(Exception, match="environment variable") as raised:
        opened.service.add_endpoint("far", server.url("good"), "m", key=KEY)
    assert KEY not in str(raised.value)
    assert opened.service.models.all() == ()


def test_that_the_key_itself_in_place_of_a_variable_is_refused_without_repeating_it(opened, server):
    for key in (KEY, KEY.replace("-", "")):
        with pytest.raises(BadInputError, match="no environment variable") as raised:
            opened.service.add_endpoint("far", server.url("good"), "m", key_variable=key)
        assert key not in str(raised.value)


def test_that_a_dead_endpoint_is_shown_and_routed_around_and_comes_back(opened, ask, server, ready):
    service = opened.service
    service.begin()
    service.add_endpoint("far", server.url("moody"), "m", cost_per_1000_tokens=2.0)
    assert ready("far").state == "ready"
    server.is_alive = False
    decided, ended = ask("Sort the digits: 31", count=4)
    assert "far" in decided.candidates
    assert ended["far"].state == "failed"
    assert ready("far").state == "dead"
    assert "503" in ready("far").sentence

    around, _ = ask("Sort the digits: 31", count=2)

    assert "far" not in around.candidates
    assert sum(around.probabilities) == pytest.approx(1.0)
    assert sum(around.proposal) == pytest.approx(1.0)
    assert around.propensities[0] == around.proposal[around.candidates.index(around.asked[0])]
    server.is_alive = True
    service.models.check("far")
    assert ready("far").state == "ready"
    decided, ended = ask("Sort the digits: 31", count=4)
    assert ended["far"].text == "Forty-two"
    with StoreReader(opened.path) as reader:
        kept = [entry.event for entry in reader.router_log() if isinstance(entry.event, RouterAnswered)]
    assert [event.cost for event in kept if event.model == "far"] == [0.0, 7 * 2.0 / 1000]


def test_that_a_dead_endpoint_is_tried_again_by_itself(opened, server, ready, monkeypatch):
    monkeypatch.setattr(model_list, "TRY_AGAIN_S", 0.02)
    server.is_alive = False
    service = opened.reopen()
    service.add_endpoint("far", server.url("moody"), "m")
    assert ready("far").state == "dead"
    opened.service_changed.clear()
    server.is_alive = True
    assert opened.service_changed.wait(20)
    assert ready("far").state == "ready"


def test_that_one_that_looks_alive_and_does_not_answer_is_tried_more_and_more_rarely(opened, ask, server, ready):
    opened.service.add_endpoint("far", server.url("ill"), "m")
    for failures in (1, 2, 3):
        assert ready("far").state == "ready"
        assert ask("Which?")[1]["far"].state == "failed"
        assert ready("far").failures == failures
        opened.service.models.check("far")
    tries = {failures: [n for n in range(1, 200) if is_tried(n, failures)] for failures in (0, 1, 2, 4, 50)}
    assert len(tries[0]) == len(tries[1]) == 199
    assert tries[2][:3] == [2, 4, 6]
    assert tries[4][:2] == [8, 16]
    assert tries[50] == [64, 128, 192]


def test_that_the_time_limit_keeps_what_was_said_and_the_model_stays_alive(opened, server):
    opened.service.add_endpoint("far", server.url("slow"), "m")
    told = []
    decided, _, asking = opened.service.ask("Which?", told.append, time_limit_s=1.0)
    asking.start()
    assert asking.wait(20)
    assert (told[-1].state, told[-1].text) == ("failed", "Forty")
    assert "within 1 s" in told[-1].sentence
    assert [health.state for health in opened.service.models.all()] != ["dead"]
    opened.service.rate(decided.decision, {"far": 2})


def test_that_a_cancel_ends_a_stream_at_once(opened, server):
    opened.service.add_endpoint("far", server.url("slow"), "m")
    told, streams = [], threading.Event()

    def tell(progress):
        told.append(progress)
        if progress.state == "streaming":
            streams.set()

    _, _, asking = opened.service.ask("Which?", tell)
    asking.start()
    assert streams.wait(20)
    asking.cancel()
    assert asking.is_over
    server.released.set()
    assert (told[-1].state, told[-1].text) == ("cancelled", "Forty")


def test_that_endpoints_come_back_after_a_restart(opened, server, monkeypatch):
    monkeypatch.setenv("FAR_KEY", KEY)
    opened.service.add_endpoint("far", server.url("good"), "m", key_variable="FAR_KEY", cost_per_1000_tokens=0.5)
    (health,) = opened.reopen().models.all()
    assert health.model == RouterModelAdded("far", "endpoint", "m", server.url("good"), "env:FAR_KEY", 0.5)


def test_that_nobody_is_told_of_changes_after_the_end(opened, server):
    opened.service.add_endpoint("far", server.url("good"), "m")
    opened.service.close()
    opened.service_changed.clear()
    opened.service.models.mark("far", "It is gone.")
    assert not opened.service_changed.is_set()
