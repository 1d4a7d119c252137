"""A run's config out of its record, read once however often the window asks."""

import json
from functools import lru_cache

from grpo_gui.errors import BadInputError
from grpo_gui.store.records import RunRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.validation import config_from_json, settings_for_reading


def config_of(run: RunRecord | None) -> TrainConfig | None:
    """Return the run's config; None without a run, for one of another program, and for the router's network."""
    return None if run is None or run.origin == "router" else _read(run.config)


def settings_of(run: RunRecord | None) -> TrainConfig:
    """Return what is known of the settings of any run, for showing its samples; defaults for all else."""
    return TrainConfig() if run is None else _settings(run.config)


def total_steps(run: RunRecord) -> int:
    """Return how many steps the run shall do; of a run of another program that does not say it, those it has done."""
    planned = planned_steps(run)
    return run.steps_done if planned is None else planned


def planned_steps(run: RunRecord) -> int | None:
    """Return how many steps the run shall do; None for a run of another program that does not say it."""
    config = config_of(run)
    return _max_steps(run.config) if config is None else config.steps


@lru_cache(maxsize=16)
def _max_steps(text: str) -> int | None:
    try:
        steps = json.loads(text)["max_steps"]
    except (ValueError, KeyError, TypeError):
        return None
    return steps if isinstance(steps, int) and steps > 0 else None


_settings = lru_cache(maxsize=16)(settings_for_reading)


@lru_cache(maxsize=16)
def _read(text: str) -> TrainConfig | None:
    try:
        return config_from_json(text)
    except BadInputError:
        return None
