"""Where a trainer finds ratings and the groups they are about: the database, in every place a trainer runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from grpo_gui.events import GroupRef
from grpo_gui.rating_events import StoredRating
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import GroupRecord, RunRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.rating_rules import HUMAN
from grpo_gui.training.validation import config_from_json


@dataclass(frozen=True, slots=True)
class SampledGroup:
    """A group as it was sampled: all that an update needs to learn from it later. One entry a completion."""

    prompt_ids: tuple[int, ...]
    completion_ids: tuple[tuple[int, ...], ...]
    old_logps: tuple[bytes, ...]  # float32 little-endian, one value a token
    truncated: tuple[bool, ...]
    program: tuple[float | None, ...]  # weighted reward of the sources other than people
    temperature: float  # at which it was sampled

    @property
    def size(self) -> int:
        """The number of completions."""
        return len(self.completion_ids)


class RatingSource(Protocol):
    """What a trainer asks; all calls come from its own thread."""

    def entries(self, after_id: int) -> Sequence[StoredRating]:
        """Return the entries of the log after an id that the run may learn from, oldest first."""

    def group(self, ref: GroupRef) -> SampledGroup | None:
        """Return a rated group, None when it is not there any more."""

    def mode(self) -> str | None:
        """Return how the run was told last to use ratings, None if it never was; its config says it then."""

    def close(self) -> None:
        """End reading."""


class StoredRatings:
    """The ratings in a database of the groups of a run, and of those from which it was branched.

    Opens the database at the first call, in the thread of that call.
    """

    def __init__(self, database: Path, run_id: int) -> None:
        self._database, self._run_id = database, run_id
        self._open: StoreReader | None = None
        self._looked = (-1, 0)  # the newest entry of all runs, and after which one nothing was found
        self._runs: list[tuple[RunRecord, int | None]] = []  # with the last step that belongs to this run's past

    def entries(self, after_id: int) -> Sequence[StoredRating]:
        """Return the entries of the log after an id, oldest first. Quick when there are none.

        Raises:
            StoreError: the database cannot be read.
        """
        reader = self._reader()
        looked = reader.newest_rating(), after_id
        if looked == self._looked:
            return ()
        found = [
            entry
            for run, last in self._runs
            for entry in reader.group_ratings(run.id, after_id)
            if last is None or entry.event.group.step <= last
        ]
        self._looked = (-1, 0) if found else looked
        return tuple(sorted(found, key=lambda entry: entry.id))

    def group(self, ref: GroupRef) -> SampledGroup | None:
        """Return a rated group, None when it is not there any more.

        Raises:
            StoreError: the database cannot be read.
        """
        reader = self._reader()
        run = next((run for run, _ in self._runs if run.id == ref.run_id), None)
        record = None if run is None else reader.group(ref)
        if run is None or record is None:
            return None
        config = config_from_json(run.config)
        return sampled_group(record, config, _temperature(reader, ref, config))

    def mode(self) -> str | None:
        """Return how the run was told last to use ratings, also by a window while it was at rest.

        Raises:
            StoreError: the database cannot be read.
        """
        return self._reader().rating_mode(self._run_id)

    def close(self) -> None:
        """Close the database."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _reader(self) -> StoreReader:
        if self._open is None:
            self._open = StoreReader(self._database)
            self._runs = _with_ancestors(self._open, self._run_id)
        return self._open


def sampled_group(record: GroupRecord, config: TrainConfig, temperature: float) -> SampledGroup:
    """Return what is needed of a stored group."""
    weights = {spec.name: spec.weight for spec in config.rewards}

    def program(rewards: tuple[tuple[str, float | None], ...]) -> float | None:
        spoken = [weights.get(name, 1.0) * value for name, value in rewards if name != HUMAN and value is not None]
        return sum(spoken) if spoken else None

    return SampledGroup(
        prompt_ids=record.prompt_token_ids,
        completion_ids=tuple(one.token_ids for one in record.completions),
        old_logps=tuple(one.old_logps for one in record.completions),
        truncated=tuple(one.truncated for one in record.completions),
        program=tuple(program(one.rewards) for one in record.completions),
        temperature=temperature,
    )


def _temperature(reader: StoreReader, ref: GroupRef, config: TrainConfig) -> float:
    """The temperature at the group's step: that of the config, unless it was changed while the run was going."""
    changed = [c.new for c in reader.changes(ref.run_id) if c.name == "temperature" and c.step <= ref.step]
    return changed[-1] if changed and changed[-1] is not None else config.temperature


def _with_ancestors(reader: StoreReader, run_id: int) -> list[tuple[RunRecord, int | None]]:
    found: list[tuple[RunRecord, int | None]] = []
    last: int | None = None
    next_id: int | None = run_id
    while next_id is not None and (run := reader.run(next_id)) is not None:
        found.append((run, last))
        if run.parent_step is not None:
            last = run.parent_step if last is None else min(last, run.parent_step)
        next_id = run.parent_run_id
    return found
