"""Reads the router's log: in order, as a searchable history of decisions, and as curves of weights."""

import json
from collections import defaultdict
from collections.abc import Iterable

from grpo_gui.router_events import (
    ModelRating,
    RouterAnswered,
    RouterDecided,
    RouterEvent,
    RouterPromoted,
    RouterRated,
    RouterWeightsMoved,
)
from grpo_gui.store.encoding import SqlValue, decode_text, encode_text
from grpo_gui.store.reading import ReadConnection, Row, placeholders
from grpo_gui.store.records_router import DecisionQuery, DecisionRecord, RouterLogEntry, WeightPoint
from grpo_gui.store.router_codec import PLAIN

_DECISION = (
    "SELECT d.entry_id, d.decision, d.query, d.query_class, d.reason, d.policy, d.sampler FROM router_decisions d"
)
_CANDIDATE = "SELECT c.decision, c.model, c.probability, c.proposal, c.draw, c.propensity FROM router_candidates c"
_ANSWER = "SELECT entry_id, decision, model, text, tokens, cost, latency_s, error FROM router_answers"
_RATING = "SELECT entry_id, decision, model, quality, cost, latency_s FROM router_ratings"


def log(connection: ReadConnection, after_id: int = 0) -> tuple[RouterLogEntry, ...]:
    """The entries after an id, in order."""
    entries = connection.rows("SELECT id, time_s, kind, body FROM router_log WHERE id > ? ORDER BY id", (after_id,))
    events: dict[int, RouterEvent] = {}
    events.update(_decisions(connection, "WHERE d.entry_id > ?", (after_id,)))
    events.update(_answers(connection, "WHERE entry_id > ?", (after_id,)))
    events.update(_ratings(connection, "WHERE entry_id > ?", (after_id,)))
    events.update(_weights(connection, after_id))
    events.update(_networks(connection, after_id))
    return tuple(
        RouterLogEntry(
            entry_id, time_s, PLAIN[kind](**json.loads(decode_text(body))) if kind in PLAIN else events[entry_id]
        )
        for entry_id, time_s, kind, body in entries
    )


def decisions(
    connection: ReadConnection, query: DecisionQuery, before: int | None = None, limit: int = 50
) -> tuple[DecisionRecord, ...]:
    """The newest decisions that the query finds, those below number `before` only."""
    where, values = _conditions(query)
    if before is not None:
        where, values = [*where, "d.decision < ?"], [*values, before]
    condition = f"WHERE {' AND '.join(where)}" if where else ""
    rows = connection.rows(
        f"SELECT d.decision, l.time_s FROM router_decisions d JOIN router_log l ON l.id = d.entry_id {condition} "
        "ORDER BY d.decision DESC LIMIT ?",
        (*values, limit),
    )
    numbers = [row[0] for row in rows]
    marks = placeholders(numbers)
    made = {
        event.decision: event for event in _decisions(connection, f"WHERE d.decision IN ({marks})", numbers).values()
    }
    answers, ratings = defaultdict(list), defaultdict(list)
    for answer in _answers(connection, f"WHERE decision IN ({marks})", numbers).values():
        answers[answer.decision].append(answer)
    for rated in _ratings(connection, f"WHERE decision IN ({marks})", numbers).values():
        ratings[rated.decision].append(rated)
    return tuple(
        DecisionRecord(time_s, made[number], tuple(answers[number]), tuple(ratings[number])) for number, time_s in rows
    )


def weight_history(connection: ReadConnection, query_class: str, model: str) -> tuple[WeightPoint, ...]:
    """A weight after each rating that moved it, in order."""
    rows = connection.rows(
        "SELECT decision, weight FROM router_weights WHERE query_class = ? AND model = ? ORDER BY entry_id",
        (encode_text(query_class), encode_text(model)),
    )
    return tuple(WeightPoint(decision, weight) for decision, weight in rows)


def _conditions(query: DecisionQuery) -> tuple[list[str], list[SqlValue]]:
    where: list[str] = []
    values: list[SqlValue] = []
    if query.search:
        where.append(
            "(instr(lower(d.query), lower(?)) OR EXISTS (SELECT 1 FROM router_answers a WHERE a.decision = d.decision "
            "AND instr(lower(a.text), lower(?))))"
        )
        values += [query.search, query.search]
    if query.query_class is not None:
        where.append("d.query_class = ?")
        values.append(encode_text(query.query_class))
    if query.model is not None:
        where.append(
            "EXISTS (SELECT 1 FROM router_candidates c WHERE c.decision = d.decision AND c.model = ? "
            "AND c.draw IS NOT NULL)"
        )
        values.append(encode_text(query.model))
    if query.unrated:
        where.append("NOT EXISTS (SELECT 1 FROM router_ratings r WHERE r.decision = d.decision)")
    return where, values


def _decisions(connection: ReadConnection, condition: str, values: Iterable[SqlValue]) -> dict[int, RouterDecided]:
    rows = connection.rows(f"{_DECISION} {condition} ORDER BY d.decision", tuple(values))
    candidates: dict[int, list[Row]] = defaultdict(list)
    for row in connection.rows(
        f"{_CANDIDATE} JOIN router_decisions d ON d.decision = c.decision {condition} ORDER BY c.decision, c.place",
        tuple(values),
    ):
        candidates[row[0]].append(row)
    return {row[0]: _decision(row, candidates[row[1]]) for row in rows}


def _decision(row: Row, candidates: list[Row]) -> RouterDecided:
    asked = sorted((c for c in candidates if c[4] is not None), key=lambda c: int(c[4]))
    return RouterDecided(
        decision=row[1],
        query=decode_text(row[2]),
        query_class=decode_text(row[3]),
        reason=decode_text(row[4]),
        policy=decode_text(row[5]),
        sampler=decode_text(row[6]),
        candidates=tuple(decode_text(c[1]) for c in candidates),
        probabilities=tuple(c[2] for c in candidates),
        proposal=tuple(c[3] for c in candidates),
        asked=tuple(decode_text(c[1]) for c in asked),
        propensities=tuple(c[5] for c in asked),
    )


def _answers(connection: ReadConnection, condition: str, values: Iterable[SqlValue]) -> dict[int, RouterAnswered]:
    return {
        entry_id: RouterAnswered(
            decision, decode_text(model), decode_text(text), tokens, cost, latency_s, decode_text(error)
        )
        for entry_id, decision, model, text, tokens, cost, latency_s, error in connection.rows(
            f"{_ANSWER} {condition} ORDER BY entry_id", tuple(values)
        )
    }


def _ratings(connection: ReadConnection, condition: str, values: Iterable[SqlValue]) -> dict[int, RouterRated]:
    groups: dict[tuple[int, int], list[ModelRating]] = defaultdict(list)
    for entry_id, decision, model, quality, cost, latency_s in connection.rows(
        f"{_RATING} {condition} ORDER BY entry_id, place", tuple(values)
    ):
        groups[entry_id, decision].append(ModelRating(decode_text(model), quality, cost, latency_s))
    return {entry_id: RouterRated(decision, tuple(ratings)) for (entry_id, decision), ratings in groups.items()}


def _weights(connection: ReadConnection, after_id: int) -> dict[int, RouterWeightsMoved]:
    rows: dict[tuple[int, int, str], list[tuple[str, float]]] = defaultdict(list)
    for entry_id, decision, query_class, model, weight in connection.rows(
        "SELECT entry_id, decision, query_class, model, weight FROM router_weights WHERE entry_id > ? "
        "ORDER BY entry_id, place",
        (after_id,),
    ):
        rows[entry_id, decision, decode_text(query_class)].append((decode_text(model), weight))
    return {
        entry_id: RouterWeightsMoved(decision, name, tuple(m for m, _ in pairs), tuple(w for _, w in pairs))
        for (entry_id, decision, name), pairs in rows.items()
    }


def _networks(connection: ReadConnection, after_id: int) -> dict[int, RouterPromoted]:
    rows = connection.rows(
        "SELECT entry_id, version, network, gain, gain_low, gain_high FROM router_networks WHERE entry_id > ?",
        (after_id,),
    )
    return {row[0]: RouterPromoted(*row[1:]) for row in rows}
