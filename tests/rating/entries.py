"""Entries of the log of ratings for the tests."""

from grpo_gui.events import GroupRef
from grpo_gui.rating_events import RatableGroup, RatingEvent, StoredRating

RUN = 1


def ref(step=1, index=0):
    return GroupRef(RUN, step, index)


def event(mode="scores", values=(1, 2, 3, 4), **fields):
    defaults = {
        "group": ref(),
        "rater": "mara",
        "mode": mode,
        "values": tuple(values),
        "positions": tuple(range(len(values))),
        "shown_s": 100.0,
        "first_key_s": 103.0,
        "submitted_s": 108.0,
    }
    return RatingEvent(**{**defaults, **fields})


def entry(number, mode="scores", values=(1, 2, 3, 4), *, used_step=None, expired_step=None, **fields):
    rating = event(mode, values, **fields)
    return StoredRating(number, rating, is_undone=False, used_step=used_step, expired_step=expired_step)


def undone(number, undoes, **fields):
    return entry(number, "undone", (), undoes=undoes, **fields)


def group(step=1, index=0, texts=("a", "b", "c", "d"), program=None, prompt="p", task="sort"):
    return RatableGroup(ref(step, index), task, prompt, tuple(texts), tuple(program or [None] * len(texts)))
