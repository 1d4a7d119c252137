"""Python files with reward functions: what stands in them, read without running them, and which are confirmed."""

import ast
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from grpo_gui.errors import BadInputError, GrpoGuiError
from grpo_gui.paths import confirmed_files_file

MAX_BYTES = 1_000_000
_SEPARATOR = "::"
_HOW = ", in the run form or with grpo-gui rewards FILE."


@dataclass(frozen=True, slots=True)
class FunctionReference:
    """A function in a Python file; as text `FILE.py::function`."""

    path: Path
    function: str

    def __str__(self) -> str:
        return f"{self.path}{_SEPARATOR}{self.function}"


def parse_reference(text: str) -> FunctionReference:
    """Read `FILE.py::function`.

    Raises:
        BadInputError: the text has another form.
    """
    path, separator, function = text.rpartition(_SEPARATOR)
    if not separator or not path.endswith(".py") or not function.isidentifier():
        raise BadInputError(f"A function in a file is written FILE.py::function, not {text!r}.")
    return FunctionReference(Path(path), function)


def read_source(path: Path) -> bytes:
    """Return the file's bytes.

    Raises:
        BadInputError: it is no Python file, is longer than 1 MB, or cannot be read.
    """
    if path.suffix != ".py":
        raise BadInputError(f"{path} is no Python file; reward functions stand in a file whose name ends in .py.")
    try:
        with path.open("rb") as file:
            source = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(source) > MAX_BYTES:
        raise BadInputError(f"{path} is longer than 1 MB; is this a file with reward functions?")
    return source


def sha256_of(source: bytes) -> str:
    """Return the hash by which a confirmed file is known again."""
    return hashlib.sha256(source).hexdigest()


def function_names(path: Path) -> list[str]:
    """Return the reward functions of a file in their order, without running it.

    A reward function stands at the top level, its name has no leading underscore, and it takes `completions`.

    Raises:
        BadInputError: the file cannot be read, is no Python, or holds no reward function.
    """
    source = read_source(path)
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f", line {line}" if line else ""
        raise BadInputError(f"{path}{where} is not Python: {getattr(error, 'msg', error)}.") from error
    names = [
        node.name
        for node in body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and any(argument.arg == "completions" for argument in (*node.args.args, *node.args.kwonlyargs))
    ]
    if not names:
        raise BadInputError(
            f"{path} holds no reward function; write one as "
            "def my_reward(prompts, completions, **columns): return [one number or None for each completion]."
        )
    return list(dict.fromkeys(names))


def confirmed_sha256(path: Path) -> str:
    """Return the hash of a file that the user has confirmed as it is now.

    Raises:
        BadInputError: the file cannot be read, was never confirmed, or has changed since.
    """
    current = sha256_of(read_source(path))
    known = _confirmed().get(str(path.resolve()))
    if known is None:
        raise BadInputError(f"{path} holds Python that will be run here; look at it and confirm it first{_HOW}")
    if known != current:
        raise BadInputError(f"{path} has changed since you confirmed it; look at it and confirm it again{_HOW}")
    return current


def confirm(path: Path) -> None:
    """Remember that the user wants this file, as it is now, to be run.

    Raises:
        BadInputError: the file cannot be read.
        GrpoGuiError: the confirmation cannot be kept.
    """
    entries = _confirmed() | {str(path.resolve()): sha256_of(read_source(path))}
    target = confirmed_files_file()
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")
        os.replace(part, target)
    except OSError as error:
        raise GrpoGuiError(
            f"The confirmation cannot be saved to {target} ({error.strerror}). Check the rights and the room there."
        ) from error


def parse_choice(text: str) -> list[tuple[FunctionReference, float]]:
    """Read `FILE.py[:name=weight]`: one function with its weight, or all of the file's with weight 1.

    Raises:
        BadInputError: the text has another form, or the file has no such function.
    """
    path_text, separator, choice = text.rpartition(".py:")
    path = Path(path_text + ".py" if separator else text).resolve()
    names = function_names(path)
    if not separator:
        return [(FunctionReference(path, name), 1.0) for name in names]
    name, equals, weight_text = choice.partition("=")
    try:
        weight = float(weight_text) if equals else 1.0
    except ValueError:
        raise BadInputError(f"The weight in {text!r} is no number; write FILE.py:name=0.5.") from None
    if name not in names:
        raise BadInputError(f"{path} has no reward function {name!r}, only {', '.join(names)}.")
    return [(FunctionReference(path, name), weight)]


def check_reference(text: str) -> str | None:
    """Return a sentence when the text names no function that may be run, else None."""
    try:
        reference = parse_reference(text)
        names = function_names(reference.path)
        if reference.function not in names:
            return f"{reference.path} has no reward function {reference.function!r}, only {', '.join(names)}."
        confirmed_sha256(reference.path)
    except BadInputError as error:
        return str(error)
    return None


def _confirmed() -> dict[str, str]:
    """Path to hash; empty when nothing was confirmed or the file is damaged: then everything is asked again."""
    try:
        entries = json.loads(confirmed_files_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(entries, dict):
        return {}
    return {path: digest for path, digest in entries.items() if isinstance(digest, str)}
