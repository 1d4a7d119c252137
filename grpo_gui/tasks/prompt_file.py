"""Prompt files of the user: JSONL or CSV with a column `prompt` and, where a reward needs it, `answer`."""

import csv
import json
import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from grpo_gui.errors import BadInputError
from grpo_gui.tasks.problem import Problem, is_held_out

MAX_LINE_BYTES = 1_000_000
RESERVED_COLUMNS = frozenset({"prompts", "completions", "completion_ids"})  # arguments of every reward function


class PromptFileTask:
    """Draws prompts at random from a file; about one in ten is held out, by the CRC-32 of its text.

    Equal prompts always stand on the same side. When every row would be held out, all are used for
    training and none is held out.

    Raises:
        BadInputError: naming the file and the line, for anything in it that cannot be used.
    """

    name = "file"

    def __init__(self, path: Path, *, needs_answer: bool = False) -> None:
        self.path = path
        problems = list(read_prompt_file(path, needs_answer=needs_answer))
        training = [problem for problem in problems if not is_held_out(problem.prompt)]
        self._training = training or problems
        self._held_out = [problem for problem in problems if is_held_out(problem.prompt)] if training else []

    def __len__(self) -> int:
        return len(self._training) + len(self._held_out)

    def sample(self, rng: random.Random) -> Problem:
        """Draw one training row."""
        return rng.choice(self._training)

    def held_out(self, count: int, seed: int = 0) -> list[Problem]:
        """Return up to `count` held-out rows with different prompts, in an order that depends on the seed."""
        rows = list({problem.prompt: problem for problem in self._held_out}.values())
        random.Random(f"held out/file/{seed}").shuffle(rows)
        return rows[:count]


def read_prompt_file(path: Path, *, needs_answer: bool = False) -> Iterator[Problem]:
    """Read the problems of a JSONL or CSV file one after another.

    JSONL: one object a line. CSV: comma-separated with a header. UTF-8 (a byte order mark is
    ignored), at most 1 MB a line; empty lines are skipped. Further columns go to the reward functions.

    Raises:
        BadInputError: naming the file and the line, for anything that cannot be used.
    """
    readers = {".jsonl": _json_rows, ".ndjson": _json_rows, ".csv": _csv_rows}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise BadInputError(f"{path} is no prompt file: its name must end in .jsonl or .csv.")
    empty = True
    for line, row in reader(path):
        empty = False
        yield _problem(path, line, row, needs_answer)
    if empty:
        raise BadInputError(f"{path} holds no prompts; give it at least one row with a `prompt`.")


def _problem(path: Path, line: int, row: dict[str, object], needs_answer: bool) -> Problem:
    where = f"{path}, line {line}"
    if "prompt" not in row:
        raise BadInputError(f"{where}: there is no `prompt`, only {', '.join(row) or 'nothing'}.")
    if needs_answer and "answer" not in row:
        raise BadInputError(
            f"{where}: there is no `answer`, but a reward of this run compares with it; add the column."
        )
    prompt, answer = row["prompt"], row.get("answer")
    if not isinstance(prompt, str):
        raise BadInputError(f"{where}: `prompt` must be text, not {_kind_of(prompt)}.")
    if not prompt.strip():
        raise BadInputError(f"{where}: `prompt` is empty.")
    if answer is not None and (isinstance(answer, bool) or not isinstance(answer, (str, int, Decimal))):
        raise BadInputError(f"{where}: `answer` must be text or a number, not {_kind_of(answer)}.")
    if needs_answer and (answer is None or not str(answer).strip()):
        raise BadInputError(f"{where}: `answer` is empty, but a reward of this run compares with it.")
    columns = {name: _as_text(value) for name, value in row.items() if name not in ("prompt", "answer")}
    if reserved := sorted(RESERVED_COLUMNS & columns.keys()):
        raise BadInputError(f"{where}: the column `{reserved[0]}` has a name that reward functions use; rename it.")
    problem = Problem("file", prompt, None if answer is None else str(answer), columns)
    _check_encodable(where, problem)
    return problem


def _check_encodable(where: str, problem: Problem) -> None:
    for text in (problem.prompt, problem.answer or "", *problem.columns, *problem.columns.values()):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise BadInputError(f"{where}: a text holds half of a surrogate pair, which is no character.") from None


def _kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | Decimal():
            return "a number"
        case list():
            return "a list (chat messages are not supported)"
        case _:
            return "an object"


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, text with its line end)."""
    try:
        with path.open("rb") as file:
            number = 0
            while raw := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(raw) > MAX_LINE_BYTES:
                    raise BadInputError(f"{path}, line {number} is longer than 1 MB; is this a prompt file?")
                try:
                    yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise BadInputError(
                        f"{path}, line {number} is not UTF-8 (byte {error.start + 1}); save the file as UTF-8."
                    ) from None
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error.strerror or error}.") from None


def _json_rows(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in _lines(path):
        if not line.strip():
            continue
        try:
            row = json.loads(line, parse_float=Decimal)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested or long beyond reason"
            raise BadInputError(f"{path}, line {number} is not JSON: {reason}.") from None
        if not isinstance(row, dict):
            raise BadInputError(f'{path}, line {number}: expected an object such as {{"prompt": ...}}.')
        yield number, row


def _csv_rows(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    reader = csv.reader((line for _, line in _lines(path)), strict=True)
    header: list[str] | None = None
    start = 1
    try:
        for fields in reader:
            line, start = start, reader.line_num + 1
            if not fields:
                continue
            if header is None:
                header = _checked_header(path, line, fields)
                continue
            if len(fields) != len(header):
                raise BadInputError(
                    f"{path}, line {line} has {len(fields)} fields where the header has {len(header)}; "
                    "put a text with a comma in double quotes."
                )
            yield line, dict(zip(header, fields, strict=True))
    except csv.Error as error:
        raise BadInputError(f"{path}, line {start} is not CSV: {error}.") from None


def _checked_header(path: Path, line: int, fields: list[str]) -> list[str]:
    header = [field.strip() for field in fields]
    if "prompt" not in header:
        raise BadInputError(f"{path}, line {line}: the header has no column `prompt`, only {', '.join(header)}.")
    if len(set(header)) < len(header):
        raise BadInputError(f"{path}, line {line}: two columns have the same name; rename one.")
    return header
