"""Tables of unknown origin: metrics or completions as CSV or JSON lines, and metrics as one JSON array."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from grpo_gui.outside.names import STEP_NAMES, TIME_NAMES, file_name
from grpo_gui.outside.pieces import Piece, Sample, SampleRows, ScalarRow, number, whole
from grpo_gui.outside.source import LineSource, WholeFile
from grpo_gui.outside.tail import Line
from grpo_gui.outside.texts import text_of

_PROMPT_NAMES = ("prompt", "input", "question", "query")
_TEXT_NAMES = ("completion", "output", "response", "answer_text", "generation")
_ANSWER_NAMES = ("answer", "gts", "ground_truth", "solution")
_GROUP_NAMES = ("group", "group_id", "uid")
_REWARD_NAMES = ("reward", "score")
_NO_REWARDS = frozenset({"advantage", "index", "row", "rank", "epoch", "tokens", "length", *STEP_NAMES, *TIME_NAMES})
MAX_LIST = 1 << 20  # entries of a column list in one line


def step_of(record: Mapping[str, object]) -> int | None:
    """The step of a row, under one of the usual names; ms-swift writes "5/3766"."""
    for name in STEP_NAMES:
        value = record.get(name)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, str) and "/" in value:
            value = value.partition("/")[0]
        if (step := whole(value)) is not None:
            return step
    return None


def names_in(record: Mapping[str, object]) -> tuple[str | None, str | None]:
    """The columns with prompt and completion, None where there is none."""
    return _first(record, _PROMPT_NAMES), _first(record, _TEXT_NAMES)


def is_completion(record: object) -> bool:
    """True for a row with a prompt and a completion."""
    return isinstance(record, dict) and None not in names_in(record)


def is_metrics(record: object) -> bool:
    """True for a row with a step and at least one number."""
    return isinstance(record, dict) and step_of(record) is not None and bool(_values(record))


def metrics_row(record: Mapping[str, object]) -> ScalarRow | None:
    """The numbers of a row at its step; None where it lacks one of them."""
    step, values = step_of(record), _values(record)
    if step is None or not values:
        return None
    times = (number(record.get(name)) for name in TIME_NAMES)
    return ScalarRow(step, values, next((time_s for time_s in times if time_s is not None), None))


def _first(record: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in record), None)


def _values(record: Mapping[str, object]) -> dict[str, float]:
    return {
        str(name): value
        for name, raw in record.items()
        if name is not None and name not in STEP_NAMES + TIME_NAMES and (value := number(raw)) is not None
    }


_LONGEST_ROW = 1 << 26  # bytes; a quote that is never closed must not swallow the file


class _Rows(LineSource):
    """Lines that become records: JSON lines, or CSV when a header is known."""

    format = "metrics"
    name_of = staticmethod(file_name)

    def __init__(self, path: Path, name: str, *, is_csv: bool) -> None:
        super().__init__(path, name)
        self._is_csv = is_csv
        self._header: list[str] | None = None
        self._begun: bytes | None = None  # a row whose last cell goes on in the next line

    def record_of(self, line: Line) -> Mapping[str, object] | None:
        """The line as a record; None, with a note, when it is none."""
        if not self._is_csv:
            return self.json_object(line)
        if (whole := self._whole_row(line.data)) is None:
            return None
        try:
            text = whole.decode("utf-8-sig" if self._header is None else "utf-8")
            cells = _cells(text)
        except (csv.Error, UnicodeDecodeError) as error:
            self.note(line, f"no CSV ({error})")
            return None
        if self._header is None:
            self._header = cells
            return None
        if len(cells) != len(self._header):
            self.note(line, f"{len(cells)} cells, while the header has {len(self._header)}")
            return None
        return dict(zip(self._header, cells, strict=True))

    def _whole_row(self, data: bytes) -> bytes | None:
        """The row that ends with this line; None inside of a quoted cell with line breaks."""
        row = data if self._begun is None else self._begun + b"\n" + data
        is_open = row.count(b'"') % 2 == 1 and len(row) < _LONGEST_ROW
        self._begun = row if is_open else None
        return None if is_open else row

    def restarted(self) -> None:
        """A file that was begun anew brings its header again."""
        self._header = self._begun = None

    def memory(self) -> dict[str, object]:
        """The header."""
        return {"header": self._header, "begun": None if self._begun is None else self._begun.decode("latin-1")}

    def remember(self, state: Mapping[str, object]) -> None:
        """The header."""
        header = state.get("header")
        self._header = list(map(str, header)) if isinstance(header, list) else None
        begun = state.get("begun")
        self._begun = begun.encode("latin-1") if isinstance(begun, str) else None


def _cells(row: str) -> list[str]:
    """The cells of a row. The longest cell that the csv module takes is a setting of the whole process."""
    before = csv.field_size_limit(_LONGEST_ROW)
    try:
        return next(csv.reader(io.StringIO(row, newline="")), [])
    finally:
        csv.field_size_limit(before)


class MetricTable(_Rows):
    """One row a step, or several that are merged."""

    def parse(self, line: Line) -> Iterator[Piece]:
        """The numbers of a row."""
        record = self.record_of(line)
        if record is None:
            return
        if step_of(record) is None:
            self.note(line, "no step")
        elif (row := metrics_row(record)) is not None:
            may_restart = row.step < self.highest or self._segment > 0
            self.highest = max(self.highest, row.step)
            yield replace(row, may_restart=may_restart)


class CompletionTable(_Rows):
    """One completion a row, or (ms-swift) one line that holds the columns of a step as lists."""

    format = "completions"

    def __init__(self, path: Path, name: str, *, is_csv: bool) -> None:
        super().__init__(path, name, is_csv=is_csv)
        self._step = 1
        self._waiting: list[Sample] = []

    def read(self, *, final: bool = False) -> Iterator[Piece]:
        """See `Source.read`: a step is handed over when the next one begins, or nothing more comes."""
        yield from super().read(final=final)
        yield from self._hand_over()

    def parse(self, line: Line) -> Iterator[Piece]:
        """Gather the rows of a step."""
        record = self.record_of(line)
        if record is None:
            return
        if not is_completion(record):
            self.note(line, "no prompt and completion")
            return
        step = step_of(record)
        step = self._step if step is None else step
        if self._waiting and step != self._step:
            yield from self._hand_over()
        self._step = step
        self._waiting += _samples(record)

    def _hand_over(self) -> Iterator[Piece]:
        if self._waiting:
            samples, self._waiting = tuple(self._waiting), []
            yield SampleRows(self._step, samples, self.name, appends=True)


def _samples(record: Mapping[str, object]) -> Iterator[Sample]:
    prompt_name, text_name = names_in(record)
    texts = record[text_name or ""]
    if not isinstance(texts, list) or not _holds_columns(record, texts):
        yield _sample(record, prompt_name or "", text_name or "")
        return
    for row in range(min(len(texts), MAX_LIST)):
        cells = {name: value[row] for name, value in record.items() if isinstance(value, list) and row < len(value)}
        if prompt_name in cells and text_name in cells:
            yield _sample(cells, prompt_name, text_name)


def _holds_columns(record: Mapping[str, object], texts: list[object]) -> bool:
    """True where every entry is a list and the completions are not the messages of a single one."""
    is_message = bool(texts) and isinstance(texts[0], dict) and "content" in texts[0]
    return not is_message and all(isinstance(value, list) for value in record.values())


def _sample(record: Mapping[str, object], prompt_name: str, text_name: str) -> Sample:
    answer_name, group_name = _first(record, _ANSWER_NAMES), _first(record, _GROUP_NAMES)
    total = next((value for name in _REWARD_NAMES if (value := number(record.get(name))) is not None), None)
    rewards = tuple(
        (str(name), value)
        for name, raw in record.items()
        if name not in _NO_REWARDS | {answer_name, group_name, *_REWARD_NAMES}
        and (value := number(raw)) is not None
        and name not in (prompt_name, text_name)
    )
    answer = None if answer_name is None else record[answer_name]
    group = None if group_name is None else record[group_name]
    return Sample(
        prompt=text_of(record[prompt_name]),
        text=text_of(record[text_name]),
        rewards=rewards or ((("reward", total),) if total is not None else ()),
        reward=total,
        advantage=number(record.get("advantage")),
        answer=None if answer is None else text_of(answer),
        group=None if group is None else str(group),
    )


class MetricArray(WholeFile):
    """A JSON file that holds one array of rows, or one row."""

    format = "metrics"
    name_of = staticmethod(file_name)

    def read_whole(self) -> Iterator[Piece]:
        """One row an entry."""
        try:
            document = json.loads(self.path.read_bytes().decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            self.note(f"no JSON ({error})")
            return
        for place, record in enumerate(document if isinstance(document, list) else [document]):
            if is_metrics(record):
                yield ScalarRow(step_of(record) or 0, _values(record))
            else:
                self.note("no step with numbers", f"entry {place + 1}")
