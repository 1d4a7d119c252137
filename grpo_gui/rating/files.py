"""Ratings as files: the entries of the log, preference pairs and binary labels, one JSON object a line; and back.

Pairs and labels have the columns that TRL's DPO and KTO trainers read: prompt, chosen, rejected; and prompt,
completion, label.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from grpo_gui.errors import BadInputError
from grpo_gui.events import GroupRef
from grpo_gui.rating_events import HIGHEST_SCORE, LOWEST_SCORE, RATING_MODES, RatingEvent, StoredRating

EVENTS, PAIRS, LABELS = FORMATS = ("events", "pairs", "labels")
IMPORTED = "imported"
GOOD_FROM, BAD_TO = 4, 2  # scores that are a label of their own; 3 is neither

_FORMAT_OF = {"mode": EVENTS, "chosen": PAIRS, "label": LABELS}
_EVENT_FIELDS = ("rater", "mode", "values", "positions", "pairs", "tags", "note", "reason", "is_repeat", "is_audit")
_RANGE_OF = {"ranks": (1, 1), "labels": (0, 1)}  # of the values; those of the other modes are scores
_TIME_FIELDS = ("shown_s", "first_key_s", "submitted_s")


@dataclass(frozen=True, slots=True)
class GroupTexts:
    """What a group was asked and answered."""

    prompt: str
    texts: tuple[str, ...]


Groups = Mapping[GroupRef, GroupTexts]
Line = dict[str, object]


@dataclass(frozen=True, slots=True)
class ReadRating:
    """An entry of a file. `event.undoes` counts in the ids of the file, as `file_id` does; 0 is no entry."""

    file_id: int
    event: RatingEvent


# --- out


def event_lines(ratings: Iterable[StoredRating], groups: Groups) -> Iterator[Line]:
    """Every entry of the log with what it speaks of, so that it can be taken up in another database."""
    for rating in ratings:
        event = rating.event
        texts = groups.get(event.group)
        if texts is None:
            continue
        fields = asdict(event)
        yield {
            "id": rating.id,
            "run": event.group.run_id,
            "step": event.group.step,
            "group": event.group.index,
            "prompt": texts.prompt,
            "completions": list(texts.texts),
            **{name: fields[name] for name in (*_EVENT_FIELDS, *_TIME_FIELDS, "undoes")},
            "is_undone": rating.is_undone,
            "used_step": rating.used_step,
            "expired_step": rating.expired_step,
        }


def pair_lines(ratings: Iterable[StoredRating], groups: Groups) -> Iterator[Line]:
    """A line for each pair of different answers of which a person found one better; ties say nothing.

    `ratings` are those that count, see `RatingLog.counting`.
    """
    for rating in ratings:
        texts = groups.get(rating.event.group)
        if texts is None:
            continue
        for better, worse in dict.fromkeys(_better(rating.event, texts.texts)):
            yield {"prompt": texts.prompt, "chosen": better, "rejected": worse}


def label_lines(
    ratings: Iterable[StoredRating], groups: Groups, terms: Callable[[RatingEvent], Sequence[float | None]]
) -> Iterator[Line]:
    """A line for each different answer that a person found good or bad.

    Scores from 4 on are good, to 2 bad. A ranking or pairs say only which is better: above the middle of its group
    is good, below it bad; `terms` gives the place. `ratings` are those that count.
    """
    for rating in ratings:
        texts = groups.get(rating.event.group)
        if texts is None:
            continue
        labels: dict[str, bool] = {}
        for text, label in zip(texts.texts, _labels(rating.event, terms), strict=True):
            if label is not None:
                labels[text] = label
        for text, label in labels.items():
            yield {"prompt": texts.prompt, "completion": text, "label": label}


def to_jsonl(lines: Iterable[Line]) -> Iterator[bytes]:
    """The lines of a file."""
    for line in lines:
        try:
            yield json.dumps(line, ensure_ascii=False).encode("utf-8") + b"\n"
        except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can carry
            yield json.dumps(line).encode("ascii") + b"\n"


def _better(event: RatingEvent, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    if event.mode == "pairs":
        for first, second, result in event.pairs:
            if result != 0.5 and texts[first] != texts[second]:
                yield (texts[first], texts[second]) if result > 0.5 else (texts[second], texts[first])
        return
    sign = -1 if event.mode == "ranks" else 1
    rated = {text: sign * value for text, value in zip(texts, event.values, strict=True) if value is not None}
    for better, high in rated.items():
        for worse, low in rated.items():
            if high > low:
                yield better, worse


def _labels(event: RatingEvent, terms: Callable[[RatingEvent], Sequence[float | None]]) -> list[bool | None]:
    if event.mode in ("ranks", "pairs"):
        return [None if term is None or term == 0 else term > 0 for term in terms(event)]
    if event.mode == "labels":
        return [None if value is None else value > 0.5 for value in event.values]
    return [_score_label(value) for value in event.values]


def _score_label(value: float | None) -> bool | None:
    if value is None or BAD_TO < value < GOOD_FROM:
        return None
    return value >= GOOD_FROM


# --- in


def read_lines(content: bytes, name: str) -> tuple[str, list[Line]]:
    """The format of a file, told by its first line, and its lines.

    Raises:
        BadInputError: it holds no ratings, or a line is broken; the line is named.
    """
    lines: list[Line] = []
    for number, row in enumerate(content.splitlines(), 1):
        if not row.strip():
            continue
        try:
            line = json.loads(row)
        except (ValueError, RecursionError) as error:
            raise BadInputError(f"Line {number} of {name} is no JSON ({error}); export it again.") from error
        if not isinstance(line, dict):
            raise BadInputError(f"Line {number} of {name} is no JSON object; a rating is one object a line.")
        lines.append(line)
    kind = next((kind for field, kind in _FORMAT_OF.items() if lines and field in lines[0]), None)
    if kind is None:
        raise BadInputError(
            f"{name} holds no ratings: its first line has neither mode (entries of the log), nor chosen and rejected "
            "(preference pairs), nor completion and label (binary labels)."
        )
    return kind, lines


def read_events(lines: Sequence[Line], groups: Groups, name: str) -> list[ReadRating | None]:
    """The entries of a file for the groups of a database; None for those whose group is not there.

    A group is the same when step and place, prompt and completions are; else one with the same prompt and
    completions is taken.

    Raises:
        BadInputError: a line is no entry; it is named.
    """
    by_texts = {(group.prompt, group.texts): ref for ref, group in groups.items()}
    by_place = {(ref.step, ref.index, group.prompt, group.texts): ref for ref, group in groups.items()}
    read: list[ReadRating | None] = []
    for number, line in enumerate(lines, 1):
        try:
            texts = (str(line["prompt"]), tuple(str(text) for text in _list(line["completions"])))
            ref = by_place.get((int(str(line["step"])), int(str(line["group"])), *texts)) or by_texts.get(texts)
            event = None if ref is None else _checked(_event(ref, line), len(texts[1]))
            read.append(None if event is None else ReadRating(int(str(line.get("id", 0))), event))
        except (KeyError, ValueError, TypeError) as error:
            raise BadInputError(f"Line {number} of {name} is no entry of a log of ratings ({error}).") from error
    return read


def read_pairs(
    lines: Sequence[Line], groups: Groups, rater: str, now_s: float, name: str
) -> tuple[list[RatingEvent], int]:
    """The ratings that a file of preference pairs means, and how many of its lines found no group."""
    found: dict[GroupRef, dict[tuple[int, int, float], None]] = {}
    unknown = 0
    for number, line in enumerate(lines, 1):
        prompt, chosen, rejected = (_text(line, field, number, name) for field in ("prompt", "chosen", "rejected"))
        ref = next((ref for ref, group in groups.items() if _holds(group, prompt, chosen, rejected)), None)
        if ref is None:
            unknown += 1
            continue
        texts = groups[ref].texts
        found.setdefault(ref, {})[(texts.index(chosen), texts.index(rejected), 1.0)] = None
    return [
        _imported(ref, groups[ref], rater, now_s, "pairs", pairs=tuple(pairs)) for ref, pairs in found.items()
    ], unknown


def read_labels(
    lines: Sequence[Line], groups: Groups, rater: str, now_s: float, name: str
) -> tuple[list[RatingEvent], int]:
    """The ratings that a file of binary labels means, and how many of its lines found no group."""
    found: dict[GroupRef, dict[str, float]] = {}
    unknown = 0
    for number, line in enumerate(lines, 1):
        prompt, completion = (_text(line, field, number, name) for field in ("prompt", "completion"))
        label = line.get("label")
        if not isinstance(label, bool):
            raise BadInputError(f"Line {number} of {name} needs a label that is true or false; it is {label!r}.")
        refs = [ref for ref, group in groups.items() if _holds(group, prompt, completion)]
        if not refs:
            unknown += 1
        # The answer may have come in several groups of the prompt; it is as good in each of them.
        for ref in refs:
            found.setdefault(ref, {})[completion] = float(label)
    events = [
        _imported(ref, groups[ref], rater, now_s, "labels", values=tuple(map(values.get, groups[ref].texts)))
        for ref, values in found.items()
    ]
    return events, unknown


def is_same(first: RatingEvent, second: RatingEvent) -> bool:
    """True when two entries say the same of a group, whenever and wherever it was shown."""
    return all(
        getattr(first, name) == getattr(second, name) for name in ("group", "rater", "mode", "values", "pairs", "tags")
    )


def _imported(
    ref: GroupRef,
    group: GroupTexts,
    rater: str,
    now_s: float,
    mode: str,
    values: tuple[float | None, ...] = (),
    pairs: tuple[tuple[int, int, float], ...] = (),
) -> RatingEvent:
    places = {text: place for place, text in enumerate(dict.fromkeys(group.texts))}
    return RatingEvent(
        group=ref,
        rater=rater,
        mode=mode,
        values=values or (None,) * len(group.texts),
        positions=tuple(places[text] for text in group.texts),
        shown_s=now_s,
        first_key_s=None,
        submitted_s=now_s,
        pairs=pairs,
        reason=IMPORTED,
    )


def _event(ref: GroupRef, line: Line) -> RatingEvent:
    mode = str(line["mode"])
    if mode not in RATING_MODES:
        raise ValueError(f"mode {mode!r}")
    first_key, undoes = line.get("first_key_s"), line.get("undoes")
    return RatingEvent(
        group=ref,
        rater=str(line["rater"]),
        mode=mode,
        values=tuple(None if value is None else float(str(value)) for value in _list(line["values"])),
        positions=tuple(int(str(place)) for place in _list(line["positions"])),
        shown_s=float(str(line["shown_s"])),
        first_key_s=None if first_key is None else float(str(first_key)),
        submitted_s=float(str(line["submitted_s"])),
        pairs=tuple((int(str(a)), int(str(b)), float(str(won))) for a, b, won in _list(line.get("pairs", []))),
        tags=tuple((int(str(place)), str(tag)) for place, tag in _list(line.get("tags", []))),
        note=str(line.get("note", "")),
        reason=str(line.get("reason", "")),
        is_repeat=bool(line.get("is_repeat", False)),
        is_audit=bool(line.get("is_audit", False)),
        undoes=None if undoes is None else int(str(undoes)),
    )


def _checked(event: RatingEvent, size: int) -> RatingEvent:
    """An entry about a group of `size` that could have been given in the window; raises ValueError for any other."""
    times = (event.shown_s, event.submitted_s, *(() if event.first_key_s is None else (event.first_key_s,)))
    if not event.rater.strip() or not all(map(math.isfinite, times)):
        raise ValueError("it needs a rater and times")
    if event.mode == "undone":
        return event
    if len(event.values) != size or len(event.positions) != size:
        raise ValueError(f"it needs {size} values and positions, one a completion")
    lowest, highest = _RANGE_OF.get(event.mode, (LOWEST_SCORE, HIGHEST_SCORE))
    highest = size if event.mode == "ranks" else highest
    if any(value is not None and not lowest <= value <= highest for value in event.values):
        raise ValueError(f"a value of the mode {event.mode} lies from {lowest} to {highest}")
    if any(not -1 <= place < size for place in event.positions):
        raise ValueError(f"a position lies from 0 to {size - 1}, or is -1 for one that was not shown")
    if any(not (0 <= a < size and 0 <= b < size and a != b and won in (0.0, 0.5, 1.0)) for a, b, won in event.pairs):
        raise ValueError(f"a pair is two different completions from 0 to {size - 1}, and 1, 0.5 or 0")
    if any(not 0 <= place < size for place, _ in event.tags):
        raise ValueError(f"a tag names a completion from 0 to {size - 1}")
    return event


def _holds(group: GroupTexts, prompt: str, *texts: str) -> bool:
    return group.prompt == prompt and all(text in group.texts for text in texts)


def _text(line: Line, field: str, number: int, name: str) -> str:
    value = line.get(field)
    if not isinstance(value, str):
        raise BadInputError(f"Line {number} of {name} needs the text {field!r}; it is {value!r}.")
    return value


def _list(value: object) -> list[tuple[object, ...]]:
    if not isinstance(value, list):
        raise TypeError(f"a list is needed, not {value!r}")
    return value
