"""The child process that runs foreign reward code: `python -m grpo_gui.tasks.reward_worker FILE FUNCTION SHA256`.

It speaks JSON lines: one call a line on standard input, one reply a line on what was its standard output. What the
foreign code prints goes to standard error. It ends when its standard input is closed, even out of an endless loop.
"""

import asyncio
import hashlib
import inspect
import json
import math
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

Reply = dict[str, Any]


def main() -> None:
    """Load the function, say so, and answer calls until the end of standard input."""
    path, function_name, sha256 = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    calls: queue.SimpleQueue[str] = queue.SimpleQueue()
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    source = os.fdopen(os.dup(0), encoding="utf-8")
    os.dup2(2, 1)  # prints of foreign code must not get between the replies
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    threading.Thread(target=_read, args=(source, calls), daemon=True).start()
    reply, function = load(path, function_name, sha256)
    _send(replies, reply)
    while function is not None:
        _send(replies, answer(function, json.loads(calls.get())))


def load(path: Path, function_name: str, sha256: str) -> tuple[Reply, Callable[..., Any] | None]:
    """Run the file and return its function with an empty reply, or a reply that says why not."""
    try:
        source = path.read_bytes()
    except OSError as error:
        return {"error": f"cannot be read: {error.strerror}"}, None
    if hashlib.sha256(source).hexdigest() != sha256:
        return {"error": "has changed since it was confirmed; look at it and confirm it again"}, None
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules.setdefault(module.__name__, module)
    sys.path.insert(0, str(path.parent))

    def execute() -> Callable[..., Any]:
        exec(compile(source, str(path), "exec"), module.__dict__)
        function: Callable[..., Any] = getattr(module, function_name)
        return function

    function, failure = _caught(execute)
    if failure is not None:
        return {"error": f"could not be loaded: {_short(failure)}", "traceback": _foreign_traceback(failure)}, None
    return {}, function


def answer(function: Callable[..., Any], call: Reply) -> Reply:
    """Call the function; the reply holds `values`, or `error`, `traceback` and the `index` of the completion."""
    arguments: dict[str, Sequence[Any]] = call["arguments"]
    count = len(arguments["completions"])
    values, error = _caught(lambda: _run(function, arguments))
    if error is None:
        return check(values, count)
    failure = {"error": f"raised {_short(error)}", "traceback": _foreign_traceback(error), "index": 0}
    return failure if count == 1 else _failure_alone(function, arguments) or failure


def check(values: object, count: int) -> Reply:
    """Return the values as plain numbers, or what is wrong with them."""
    listed = values.tolist() if hasattr(values, "tolist") else values  # arrays and tensors, on any device
    if not isinstance(listed, list | tuple):
        return {"error": f"returned {type(values).__name__} instead of a list with one number a completion"}
    if len(listed) != count:
        return {"error": f"returned {len(listed)} values for {count} completions; it must return one a completion"}
    numbers: list[float | None] = []
    for index, value in enumerate(listed):
        number = _number(value)
        if number is not None and not math.isfinite(number):
            return {"error": f"returned {value!r}, which is no finite number and not None", "index": index}
        numbers.append(number)
    return {"values": numbers}


def _number(value: object) -> float | None:
    """Return None for no opinion, NaN for what is no number."""
    if value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    if hasattr(value, "item"):  # a scalar of numpy or torch
        try:
            return _number(value.item())
        except (ValueError, RuntimeError):
            return math.nan
    return math.nan


def _run(function: Callable[..., Any], arguments: dict[str, Sequence[Any]]) -> object:
    parameters = inspect.signature(function).parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        arguments = {name: value for name, value in arguments.items() if name in parameters}
    result = function(**arguments)
    return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result


async def _awaited(result: Any) -> object:  # noqa: ANN401 - whatever foreign code returned
    return await result


def _failure_alone(function: Callable[..., Any], arguments: dict[str, Sequence[Any]]) -> Reply | None:
    """Find the completion on which the function raises by calling it on one after the other."""
    for index in range(len(arguments["completions"])):
        one = {name: values[index : index + 1] for name, values in arguments.items()}
        _, error = _caught(partial(_run, function, one))
        if error is not None:
            return {"error": f"raised {_short(error)}", "traceback": _foreign_traceback(error), "index": index}
    return None


def _caught(action: Callable[[], object]) -> tuple[Any, Exception | None]:
    """Return what foreign code returned, and what it raised."""
    try:
        return action(), None
    except Exception as error:  # noqa: BLE001 - the one place: whatever foreign code raises becomes a reply
        return None, error


def _foreign_traceback(error: BaseException) -> str:
    """The traceback without the frames of this file."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename == main.__code__.co_filename:
        frame = frame.tb_next
    return "".join(traceback.format_exception(type(error), error, frame))


def _short(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _read(source: TextIO, calls: "queue.SimpleQueue[str]") -> None:
    for line in source:
        calls.put(line)
    os._exit(0)  # the trainer is gone: end at once, whatever the foreign code is doing


def _send(replies: TextIO, reply: Reply) -> None:
    replies.write(json.dumps(reply) + "\n")
    replies.flush()


if __name__ == "__main__":
    main()
