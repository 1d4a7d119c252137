"""TRL and transformers: trainer_state.json of a checkpoint, and the parquet files of log_completions."""

import json
from collections.abc import Iterator
from pathlib import Path

from grpo_gui.outside.arguments import take_arguments
from grpo_gui.outside.names import trl_name
from grpo_gui.outside.parquet_reading import read_parquet
from grpo_gui.outside.pieces import Piece, RunInfo, Sample, SampleRows, ScalarRow, number, whole
from grpo_gui.outside.source import WholeFile
from grpo_gui.outside.step_files import StepFile, StepFiles
from grpo_gui.outside.texts import text_of
from grpo_gui.outside.weights import WeightFinder

_KNOWN_COLUMNS = frozenset({"step", "prompt", "completion", "advantage"})
_MAX_BYTES = 1 << 30


def is_trainer_state(document: object) -> bool:
    """True for the JSON that transformers' Trainer leaves in every checkpoint."""
    return isinstance(document, dict) and isinstance(document.get("log_history"), list)


class TrainerState(WholeFile):
    """A trainer_state.json, or the newest one of a folder's checkpoints."""

    format = "trl"
    name_of = staticmethod(trl_name)

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path, name)
        self._info: dict[str, object] = {}
        self._weights = WeightFinder()

    def use(self, path: Path) -> None:
        """Go on with the file of a newer checkpoint."""
        if path != self.path:
            self.path = path
            self.forget()

    def read_whole(self) -> Iterator[Piece]:
        """One piece a row of log_history."""
        document = self._document()
        if document is None:
            return
        self._info = {key: value for key, value in document.items() if key != "log_history"}
        highest = -1
        for place, entry in enumerate(document["log_history"]):  # type: ignore[arg-type, var-annotated]  # checked to be a list
            row = self._row(place, entry)
            if row is not None:
                yield ScalarRow(row.step, row.values, may_restart=row.step < highest)
                highest = max(highest, row.step)

    def _document(self) -> dict[str, object] | None:
        try:
            if self.path.stat().st_size > _MAX_BYTES:
                raise ValueError("it is larger than 1 GB")
            document = json.loads(self.path.read_bytes().decode("utf-8-sig"))
            if not is_trainer_state(document):
                raise ValueError("it holds no log_history")
        except (ValueError, RecursionError) as error:
            self.note(f"it cannot be read as a trainer_state.json ({error})")
            return None
        return dict(document)

    def _row(self, place: int, entry: object) -> ScalarRow | None:
        step = whole(entry.get("step")) if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or step is None:
            self.note("a row with a step is needed", f"log_history[{place}]")
            return None
        values = {
            str(name): value for name, raw in entry.items() if name != "step" and (value := number(raw)) is not None
        }
        return ScalarRow(step, values) if values else None

    def describe(self, info: RunInfo) -> None:
        """Steps and settings of the run."""
        if not self._info:
            document = self._document() or {}
            self._info = {key: value for key, value in document.items() if key != "log_history"}
            entries = document.get("log_history")
            for place, entry in enumerate(entries if isinstance(entries, list) else ()):
                if (row := self._row(place, entry)) is not None:
                    self._weights.feed(row.values)
            self.problems = []  # `read` names them again
        info.weights = self._weights.weights or info.weights
        info.global_step = whole(self._info.get("global_step")) or info.global_step
        names = ("max_steps", "logging_steps", "save_steps", "num_train_epochs", "train_batch_size")
        take_arguments(info, {name: self._info[name] for name in names if number(self._info.get(name)) is not None})
        arguments = self._info.get("args")
        if isinstance(arguments, dict):
            take_arguments(info, arguments)


class Completions(StepFiles):
    """`completions/completions_{step:05d}.parquet`."""

    format = "trl"
    name_of = staticmethod(trl_name)
    pattern = r"completions_(\d{1,12})\.parquet"

    def read_file(self, file: StepFile, *, is_left: bool) -> SampleRows:  # noqa: ARG002  # complete or broken
        """The rows of a file."""
        return SampleRows(file.step, tuple(_samples(file.path)), file.name, file.path.stat().st_mtime)


def _samples(path: Path) -> Iterator[Sample]:
    columns = read_parquet(path)
    if "prompt" not in columns or "completion" not in columns:
        raise ValueError("it lacks the columns prompt and completion")
    yield from table_samples(columns)


def table_samples(columns: dict[str, list[object]]) -> Iterator[Sample]:
    """The samples of a table with TRL's columns: numeric columns beside the known ones are reward functions."""
    count = len(columns["prompt"])
    rewards = [
        name
        for name, values in columns.items()
        if name not in _KNOWN_COLUMNS and all(value is None or number(value) is not None for value in values)
    ]
    advantages = columns.get("advantage", [None] * count)
    answers = columns.get("answer", [None] * count)
    for row in range(count):
        answer = answers[row]
        yield Sample(
            prompt=text_of(columns["prompt"][row]),
            text=text_of(columns["completion"][row]),
            rewards=tuple((name, _opinion(columns[name][row])) for name in rewards if name != "answer"),
            advantage=number(advantages[row]),
            answer=None if answer is None else text_of(answer),
        )


def _opinion(value: object) -> float | None:
    """A reward; TRL writes NaN for None."""
    found = number(value)
    return None if found is None or found != found else found
