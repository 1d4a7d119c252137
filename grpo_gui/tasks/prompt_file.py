"""Data files of the user: rows with a prompt (text or chat messages), an answer, and columns for reward functions."""

import json
import random
from array import array
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from grpo_gui.errors import BadInputError
from grpo_gui.tasks.problem import Message, Problem, is_held_out
from grpo_gui.tasks.rows import Row, read_rows, row_at

RESERVED_COLUMNS = frozenset({"prompts", "completions", "completion_ids"})  # arguments of every reward function
ROLES = frozenset({"system", "user", "assistant", "developer", "tool"})
BAD_ROWS_SHOWN = 8
GSM8K_MARK = "####"

Progress = Callable[[float], None]  # share of the file that was read


class _BadRowError(Exception):
    """A row that cannot be used, with the reason."""


class PromptFileTask:
    """Draws prompts at random from a file; about one in ten is held out, by the CRC-32 of its text.

    Equal prompts always stand on the same side. When every row would be held out, all are used for
    training and none is held out. Of a file of JSON lines only the rows' places are kept in memory.

    Raises:
        BadInputError: naming the file and the lines, for anything in it that cannot be used.
    """

    name = "file"

    def __init__(self, path: Path, *, needs_answer: bool = False, progress: Progress | None = None) -> None:
        self.path = path
        self._needs_answer = needs_answer
        self._rows: list[Problem] = []  # of a format that is not read by place
        training, held_out = array("q"), array("q")  # places in the file, or in the list
        size = max(path.stat().st_size, 1) if path.is_file() else 1
        for count, (row, problem) in enumerate(_usable(path, needs_answer)):
            if row.offset < 0:
                self._rows.append(problem)
            (held_out if is_held_out(problem.prompt) else training).append(row.offset if row.offset >= 0 else count)
            if progress is not None and count % 10_000 == 9_999:
                progress(row.end / size)
        self._training = training or held_out
        self._held_out = held_out if training else array("q")

    def __len__(self) -> int:
        return len(self._training) + len(self._held_out)

    def sample(self, rng: random.Random) -> Problem:
        """Draw one training row."""
        return self._at(rng.choice(self._training))

    def held_out(self, count: int, seed: int = 0) -> list[Problem]:
        """Return up to `count` held-out rows with different prompts, in an order that depends on the seed."""
        places = list(self._held_out)
        random.Random(f"held out/file/{seed}").shuffle(places)
        found: dict[str, Problem] = {}
        for place in places:
            if len(found) == count:
                break
            problem = self._at(place)
            found.setdefault(problem.prompt, problem)
        return list(found.values())

    def _at(self, place: int) -> Problem:
        if self._rows:
            return self._rows[place]
        try:
            return problem_of(row_at(self.path, place), self._needs_answer)
        except _BadRowError as error:
            raise BadInputError(
                f"{self.path} has changed while it is in use ({error}); put it back, or start a new run."
            ) from None


def read_prompt_file(path: Path, *, needs_answer: bool = False) -> Iterator[Problem]:
    """Read the problems of a data file one after another.

    Further columns go to the reward functions. A row with `question` and `answer` in place of `prompt` is read as
    GSM8K writes it: the number behind `####` is the answer.

    Raises:
        BadInputError: naming the file and the lines that cannot be used.
    """
    for _, problem in _usable(path, needs_answer):
        yield problem


def _usable(path: Path, needs_answer: bool) -> Iterator[tuple[Row, Problem]]:
    """Yield the rows; at the end, or after many bad ones, raise for those that cannot be used."""
    bad: list[str] = []
    more = empty = True
    for row in read_rows(path):
        empty = False
        try:
            if row.problem:
                raise _BadRowError(row.problem)
            problem = problem_of(row.values, needs_answer)
        except _BadRowError as error:
            bad.append(f"{row.place} {error}" if row.problem else f"{row.place}: {error}")
            if len(bad) == BAD_ROWS_SHOWN:
                break
            continue
        if not bad:
            yield row, problem
    else:
        more = False
    if len(bad) == 1:
        raise BadInputError(f"{path}, {bad[0]}.")
    if bad:
        end = " Only the first are listed." if more else ""
        listed = " ".join(f"{text[0].upper()}{text[1:]}." for text in bad)
        raise BadInputError(f"{path} has rows that cannot be used. {listed}{end}")
    if empty:
        raise BadInputError(f"{path} holds no prompts; give it at least one row with a `prompt`.")


def problem_of(row: dict[str, Any], needs_answer: bool) -> Problem:
    """Turn a row into a problem; raises _BadRowError with the reason."""
    is_gsm8k = "prompt" not in row and isinstance(row.get("question"), str)
    if is_gsm8k:
        row = _from_gsm8k(row)
    if "prompt" not in row:
        raise _BadRowError(f"there is no `prompt`, only {', '.join(row) or 'nothing'}")
    if needs_answer and "answer" not in row:
        raise _BadRowError("there is no `answer`, but a reward of this run compares with it; add the column")
    messages = _messages(row["prompt"]) if isinstance(row["prompt"], list) else ()
    prompt = _as_text_prompt(messages) if messages else row["prompt"]
    answer = row.get("answer")
    if not isinstance(prompt, str):
        raise _BadRowError(f"`prompt` must be text or a list of chat messages, not {_kind_of(prompt)}")
    if not prompt.strip():
        raise _BadRowError("`prompt` is empty")
    if answer is not None and (isinstance(answer, bool) or not isinstance(answer, str | int | float | Decimal)):
        raise _BadRowError(f"`answer` must be text or a number, not {_kind_of(answer)}")
    if needs_answer and (answer is None or not str(answer).strip()):
        raise _BadRowError("`answer` is empty, but a reward of this run compares with it")
    columns = {name: plain(value) for name, value in row.items() if name not in ("prompt", "answer")}
    if reserved := sorted(RESERVED_COLUMNS & columns.keys()):
        raise _BadRowError(f"the column `{reserved[0]}` has a name that reward functions use; rename it")
    problem = Problem(
        "file", prompt, None if answer is None else str(answer), columns, messages, is_gsm8k and "solution" in row
    )
    _check_encodable(problem)
    return problem


def _from_gsm8k(row: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in row.items() if name not in ("question", "answer")}
    answer = row.get("answer")
    if isinstance(answer, str) and GSM8K_MARK in answer:
        number = answer.rpartition(GSM8K_MARK)[2].strip().replace(",", "").removeprefix("$")
        return {"prompt": row["question"], "answer": number, "solution": answer, **rest}
    return {"prompt": row["question"], **({"answer": answer} if "answer" in row else {}), **rest}


def _messages(prompt: list[Any]) -> tuple[Message, ...]:
    messages = []
    for message in prompt:
        if not isinstance(message, dict) or message.get("role") not in ROLES:
            raise _BadRowError('a chat message must be an object such as {"role": "user", "content": "..."}')
        if not isinstance(message.get("content"), str):
            raise _BadRowError("the `content` of a chat message must be text")
        messages.append((str(message["role"]), str(message["content"])))
    if not messages or messages[-1][0] == "assistant":
        raise _BadRowError("the chat messages must end with a message that the model answers")
    return tuple(messages)


def _as_text_prompt(messages: tuple[Message, ...]) -> str:
    """How a chat is shown: a single question as it is, else each message with its role."""
    if len(messages) == 1:
        return messages[0][1]
    return "\n".join(f"{role}: {content}" for role, content in messages)


def _check_encodable(problem: Problem) -> None:
    columns = json.dumps(problem.columns, ensure_ascii=False)
    for text in (problem.prompt, problem.answer or "", columns):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise _BadRowError("a text holds half of a surrogate pair, which is no character") from None


def _kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float() | Decimal():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a value as JSON holds it, for the child processes of reward functions and for saved states."""
    match value:
        case Decimal():
            return float(value)
        case dict():
            return {str(name): plain(part) for name, part in value.items()}
        case list() | tuple():
            return [plain(part) for part in value]
        case None | bool() | int() | float() | str():
            return value
        case _:  # dates and bytes of Parquet
            return str(value)
