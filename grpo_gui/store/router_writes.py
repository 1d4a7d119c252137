"""Appends entries to the router's log. Runs in the writer's thread and transaction."""

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import asdict

from grpo_gui.router_events import (
    RouterAnswered,
    RouterDecided,
    RouterEvent,
    RouterPromoted,
    RouterRated,
    RouterWeightsMoved,
)
from grpo_gui.store.encoding import encode_text
from grpo_gui.store.router_codec import KINDS


def append(connection: sqlite3.Connection, events: Sequence[RouterEvent]) -> None:
    """Add entries in their order."""
    now = time.time()
    for event in events:
        _append(connection, event, now)


def _append(connection: sqlite3.Connection, event: RouterEvent, time_s: float) -> None:
    has_tables = isinstance(event, RouterDecided | RouterAnswered | RouterRated | RouterWeightsMoved | RouterPromoted)
    body = None if has_tables else encode_text(json.dumps(asdict(event), ensure_ascii=False))
    cursor = connection.execute(
        "INSERT INTO router_log (time_s, kind, body) VALUES (?, ?, ?)", (time_s, KINDS[type(event)], body)
    )
    entry_id = int(cursor.lastrowid or 0)
    match event:
        case RouterDecided():
            _add_decision(connection, entry_id, event)
        case RouterAnswered():
            values = (encode_text(event.text), event.tokens, event.cost, event.latency_s, encode_text(event.error))
            connection.execute(
                "INSERT INTO router_answers VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (entry_id, event.decision, encode_text(event.model), *values),
            )
        case RouterRated():
            connection.executemany(
                "INSERT INTO router_ratings VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (entry_id, place, event.decision, encode_text(r.model), r.quality, r.cost, r.latency_s)
                    for place, r in enumerate(event.ratings)
                ],
            )
        case RouterWeightsMoved():
            query_class = encode_text(event.query_class)
            connection.executemany(
                "INSERT INTO router_weights VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (entry_id, place, event.decision, query_class, encode_text(model), weight)
                    for place, (model, weight) in enumerate(zip(event.models, event.weights, strict=True))
                ],
            )
        case RouterPromoted():
            connection.execute(
                "INSERT INTO router_networks VALUES (?, ?, ?, ?, ?, ?)",
                (event.version, entry_id, event.network, event.gain, event.gain_low, event.gain_high),
            )
        case _:
            pass


def _add_decision(connection: sqlite3.Connection, entry_id: int, event: RouterDecided) -> None:
    texts = (encode_text(t) for t in (event.query, event.query_class, event.reason, event.policy, event.sampler))
    connection.execute("INSERT INTO router_decisions VALUES (?, ?, ?, ?, ?, ?, ?)", (event.decision, entry_id, *texts))
    draws = {model: (draw, event.propensities[draw]) for draw, model in enumerate(event.asked)}
    connection.executemany(
        "INSERT INTO router_candidates VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (event.decision, place, encode_text(model), probability, proposal, *draws.get(model, (None, None)))
            for place, (model, probability, proposal) in enumerate(
                zip(event.candidates, event.probabilities, event.proposal, strict=True)
            )
        ],
    )
