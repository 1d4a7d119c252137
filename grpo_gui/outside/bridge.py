"""Reads what our bridge wrote beside another trainer: one append-only file of JSON lines for each rank."""

import heapq
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grpo_gui.events import CompletionSample, GroupSample
from grpo_gui.outside.bridge_samples import (
    ClipBounds,
    clip_bounds,
    decoded,
    sample_of,
    with_scores,
    with_token_values,
    with_update,
)
from grpo_gui.outside.names import trl_name
from grpo_gui.outside.pieces import (
    WORLD_SIZE,
    Piece,
    Problem,
    RateRow,
    RunInfo,
    SampleChange,
    ScalarRow,
    StartRow,
    StatusRow,
    StoredGroup,
    whole,
)
from grpo_gui.outside.source import LineSource
from grpo_gui.outside.tail import Line
from grpo_gui.store.records_outside import SourceRecord

VERSION = 1
GENERATIONS_KEPT = 3  # whose samples may still learn rewards and values of their tokens
NO_REWARD = frozenset({"observer"})  # says nothing by design


def is_bridge_line(record: object) -> bool:
    """True for a line of a rank's file."""
    return isinstance(record, dict) and {"v", "seq", "rank", "kind"} <= set(record)


@dataclass(slots=True)
class _Generation:
    """The samples of one call of the model: by row, and where the first line of each file lies."""

    step: int
    size: int  # completions a prompt
    prompts: dict[int, tuple[str, str | None]] = field(default_factory=dict)
    samples: dict[int, CompletionSample] = field(default_factory=dict)
    handed: set[int] = field(default_factory=set)  # groups
    starts: dict[str, tuple[int, int]] = field(default_factory=dict)  # file: offset and number of the line before


class _RankFile(LineSource):
    """The file of one rank; hands over parsed events."""

    name_of = staticmethod(trl_name)

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path, name)
        self.seq = -1

    def events(self, *, final: bool) -> Iterator[tuple[float, str, Line, dict[str, object]]]:
        """Time, file, line and event of every new line."""
        for line in self._tail.lines(final=final):
            if not line.data.strip():
                continue
            event = self.json_object(line)
            if event is None:
                continue
            if event.get("v") != VERSION or not isinstance(event.get("kind"), str):
                self.note(line, f"version {event.get('v')!r}; this program reads version {VERSION}")
                continue
            yield decoded(event.get("time")) or 0.0, self.name, line, event

    def place(self) -> dict[str, object]:
        """How far it was read."""
        return {"identity": self._tail.identity, "offset": self._tail.offset, "line": self._tail.number}


class BridgeFolder:
    """All rank files of a run. Rows of the ranks are put together by their global number."""

    format = "bridge"
    eps = 1e-4
    name_of = staticmethod(trl_name)

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.evaluation_samples = 0
        self.batches: dict[int, tuple[str, int, int]] = {}  # by step: session, generation, completions a prompt
        self._folder = folder
        self._files: dict[str, _RankFile] = {}
        self._restored: dict[str, SourceRecord] = {}
        self._generations: dict[tuple[str, int], _Generation] = {}
        self._bounds = ClipBounds()
        self._config: dict[str, object] = {}
        self._start: dict[str, object] = {}
        self._readers: dict[str, Callable[[str, Line, dict[str, object]], Iterator[Piece]]] = {
            "start": self._read_start,
            "completion": self._read_completion,
            "scores": self._read_scores,
            "update": self._read_update,
            "metrics": self._read_metrics,
            "rate": self._read_rate,
            "status": self._read_status,
            "end": self._read_status,
            "snapshot": self._read_status,
        }

    def paths(self) -> list[Path]:
        """See `Source.paths`."""
        return sorted(self._folder.glob("rank*.jsonl"))

    def read(self, *, final: bool = False) -> Iterator[Piece]:
        """See `Source.read`."""
        self._find_files()
        lines = heapq.merge(*(file.events(final=final) for file in self._files.values()), key=lambda one: one[0])
        for _, name, line, event in lines:
            reader = self._readers.get(str(event["kind"]))
            if reader is None:
                continue  # of a newer bridge
            try:
                yield from reader(name, line, event)
            except (ValueError, TypeError, OverflowError, AttributeError, IndexError, KeyError) as error:
                self._files[name].note(line, f"a {event['kind']} event that cannot be read ({error})")
        self.problems = [problem for file in self._files.values() for problem in file.problems]

    def _find_files(self) -> None:
        for path in self.paths():
            if path.name not in self._files:
                file = self._files[path.name] = _RankFile(path, path.name)
                if path.name in self._restored:
                    file.restore(self._restored[path.name])

    # -- events ---------------------------------------------------------------------------------------

    def _read_start(self, _name: str, _line: Line, event: dict[str, object]) -> Iterator[Piece]:
        config = event.get("config")
        self._config = dict(config) if isinstance(config, Mapping) else {}
        self._bounds = clip_bounds(self._config)
        self._start = event
        if event.get("rank") == 0:
            versions = event.get("versions")
            yield StartRow(
                session=str(event.get("session")),
                step=whole(event.get("steps_done")) or 0,
                versions=tuple((str(k), str(v)) for k, v in versions.items()) if isinstance(versions, Mapping) else (),
                device=str(event.get("device") or ""),
                pid=whole(event.get("pid")),
                host=str(event.get("host") or ""),
                world_size=whole(event.get("world_size")) or 1,
            )

    def _take_start(self, line: bytes) -> None:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return
        if isinstance(event, dict) and event.get("kind") == "start":
            list(self._read_start("", Line(1, 0, 0, line), event))

    def _read_completion(self, name: str, line: Line, event: dict[str, object]) -> Iterator[Piece]:
        if event.get("mode") == "eval":
            self.evaluation_samples += 1
            return
        step, row, size = whole(event.get("step")), whole(event.get("row")), whole(event.get("size"))
        key = self._key(event)
        if step is None or row is None or not size or key is None:
            raise ValueError("step, row, size and generation are needed")
        sample = sample_of(event, row % size)
        generation = self._generations.get(key)
        if generation is None:
            generation = self._generations[key] = _Generation(step, size)
            self.batches = {one.step: (*place, one.size) for place, one in self._generations.items()}
            while len(self._generations) > GENERATIONS_KEPT:
                del self._generations[next(iter(self._generations))]
        generation.starts.setdefault(name, (line.start, line.number - 1))
        answer = event.get("answer")
        generation.prompts[row // size] = (str(event.get("prompt") or ""), None if answer is None else str(answer))
        generation.samples[row] = sample
        yield from self._complete(generation, row // size, decoded(event.get("time")))

    def _complete(self, generation: _Generation, group: int, time_s: float | None) -> Iterator[Piece]:
        rows = range(group * generation.size, (group + 1) * generation.size)
        if group in generation.handed or not all(row in generation.samples for row in rows):
            return
        generation.handed.add(group)
        prompt, answer = generation.prompts[group]
        samples = tuple(generation.samples[row] for row in rows)
        yield StoredGroup(generation.step, GroupSample(group, "trl", prompt, answer, (), samples), time_s)

    def _read_scores(self, _name: str, _line: Line, event: dict[str, object]) -> Iterator[Piece]:
        generation, rows = self._rows(event)
        rewards, totals, advantages = event.get("rewards"), event.get("reward"), event.get("advantages")
        if not isinstance(rewards, Mapping) or not isinstance(totals, list) or not isinstance(advantages, list):
            raise ValueError("rewards and advantages are needed")
        for place, row in enumerate(rows):
            named = {name: values[place] for name, values in rewards.items() if name not in NO_REWARD}
            sample = with_scores(generation.samples[row], named, totals[place], advantages[place])
            sample = with_token_values(sample, _at(event, "old_logps", place), _at(event, "ref_logps", place))
            yield from self._changed(generation, row, sample)

    def _read_update(self, _name: str, _line: Line, event: dict[str, object]) -> Iterator[Piece]:
        generation, rows = self._rows(event)
        logps, entropy = event.get("logps"), event.get("entropy")
        if not isinstance(logps, list) or not isinstance(entropy, list):
            raise ValueError("logps and entropy are needed")
        for place, row in enumerate(rows):
            sample = with_update(generation.samples[row], logps[place], entropy[place], self._bounds)
            yield from self._changed(generation, row, sample)

    def _changed(self, generation: _Generation, row: int, sample: CompletionSample) -> Iterator[Piece]:
        generation.samples[row] = sample
        if row // generation.size in generation.handed:
            yield SampleChange(generation.step, row // generation.size, sample)

    def _rows(self, event: dict[str, object]) -> tuple[_Generation, list[int]]:
        key, rows = self._key(event), event.get("rows")
        generation = None if key is None else self._generations.get(key)
        if generation is None or not isinstance(rows, list):
            return _Generation(0, 1), []  # of samples that are long complete
        found = [whole(row) for row in rows]
        if not all(row in generation.samples for row in found):
            raise ValueError("it tells of rows that did not come")
        return generation, [row for row in found if row is not None]

    @staticmethod
    def _key(event: Mapping[str, object]) -> tuple[str, int] | None:
        generation = whole(event.get("generation"))
        return None if generation is None else (str(event.get("session")), generation)

    def _read_metrics(self, _name: str, _line: Line, event: dict[str, object]) -> Iterator[Piece]:
        step, values = whole(event.get("step")), event.get("values")
        if step is None or not isinstance(values, Mapping):
            raise ValueError("step and values are needed")
        found = {str(name): value for name, raw in values.items() if (value := decoded(raw)) is not None}
        if found:
            yield ScalarRow(step, found, decoded(event.get("time")))

    def _read_rate(self, _name: str, _line: Line, event: dict[str, object]) -> Iterator[Piece]:
        key, rows = self._key(event), event.get("rows")
        step = whole(event.get("step"))
        if key is not None and isinstance(rows, list) and step is not None:
            found = tuple(row for one in rows if (row := whole(one)) is not None)
            yield RateRow(step, key[1], found, event.get("waits") is True)

    def _read_status(self, _name: str, _line: Line, event: dict[str, object]) -> Iterator[Piece]:
        yield StatusRow(
            kind=str(event["kind"]),
            rank=whole(event.get("rank")) or 0,
            step=whole(event.get("step")) or 0,
            status=str(event.get("status") or ""),
            message=str(event.get("message") or event.get("path") or ""),
        )

    @property
    def bytes_read(self) -> int:
        """See `Source.bytes_read`."""
        return sum(file.bytes_read for file in self._files.values())

    # -- memory ---------------------------------------------------------------------------------------

    def record(self) -> SourceRecord:
        """See `Source.record`: each file from the first line of the samples that may still change."""
        files = {}
        for name, file in self._files.items():
            starts = [one.starts[name] for one in self._generations.values() if name in one.starts]
            place = file.place()
            if starts:
                place["offset"], place["line"] = min(starts)
            files[name] = place
        problem = self.problems[0].sentence if self.problems else ""
        state = {"files": files, "start": {"config": self._config}}
        return SourceRecord(self.name, state=json.dumps(state), problem=problem)

    def restore(self, record: SourceRecord) -> None:
        """See `Source.restore`."""
        state = json.loads(record.state)
        self._config = state["start"]["config"]
        self._bounds = clip_bounds(self._config)
        for name, place in state["files"].items():
            line = json.dumps({"line": place["line"]})
            self._restored[name] = SourceRecord(name, place["identity"], place["offset"], line)

    def describe(self, info: RunInfo) -> None:
        """See `Source.describe`: the first line of a file is its start."""
        for path in [] if self._start else self.paths():
            with path.open("rb") as file:
                self._take_start(file.readline())
        names, weights = self._start.get("reward_names"), self._start.get("reward_weights")
        if isinstance(names, list) and isinstance(weights, list) and len(names) == len(weights):
            found = {str(name): decoded(weight) for name, weight in zip(names, weights, strict=True)}
            info.weights = {name: weight for name, weight in found.items() if weight is not None}
        info.config |= self._config
        world_size = whole(self._start.get("world_size"))
        info.config |= {} if world_size is None else {WORLD_SIZE: world_size}
        info.name = str(self._start.get("name") or info.name)
        info.max_steps = whole(self._start.get("max_steps")) or info.max_steps


def _at(event: Mapping[str, object], name: str, place: int) -> object:
    values = event.get(name)
    return values[place] if isinstance(values, list) else None
