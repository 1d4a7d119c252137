"""What the user has set for this installation, kept as JSON."""

import dataclasses
import json
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grpo_gui.errors import BadInputError, GrpoGuiError
from grpo_gui.paths import default_database

THEMES = ("system", "light", "dark")
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d{1,3})?")
MAX_THREADS = 1024
MAX_RATER = 60  # characters


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings. `database` is a file, or empty for the default one; `eval_steps` 0 means never."""

    theme: str = "system"  # system, light, dark
    device: str = "auto"  # auto, cpu, mps, cuda, cuda:N
    threads: int = 1  # of torch, for new runs
    database: str = ""
    eval_steps: int = 10  # for new runs
    pause_on_broken: bool = False  # pause a run whose training is broken: see Finding.pauses
    rater: str = ""  # the name stored with each rating; empty: "me"


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, and a sentence when the file had to be left aside."""

    settings: Settings
    warning: str | None = None


def problems(settings: Settings) -> dict[str, str]:
    """What is wrong, as sentences by field; empty when the settings can be used."""
    found = {}
    for name, (is_right, sentence) in _CHECKS.items():
        if not is_right(getattr(settings, name)):
            found[name] = sentence
    return found


def database_of(settings: Settings) -> Path:
    """The database that the settings name, else the user's default one."""
    return Path(settings.database) if settings.database else default_database()


def load(path: Path) -> LoadedSettings:
    """Read the settings; defaults when there is no file.

    A file that cannot be used is renamed to `NAME.broken`, never overwritten, and a sentence says so.
    """
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        settings = _from_fields(fields)
    except FileNotFoundError:
        return LoadedSettings(Settings())
    except OSError as error:
        return LoadedSettings(Settings(), f"The settings {path} cannot be read ({error.strerror}); defaults are used.")
    except (ValueError, BadInputError) as error:
        return LoadedSettings(Settings(), _put_aside(path, str(error)))
    return LoadedSettings(settings)


def save(settings: Settings, path: Path) -> None:
    """Write the settings in one move, so that a crash leaves the old file or the new one.

    Raises:
        BadInputError: a setting is out of its range.
        GrpoGuiError: the file cannot be written.
    """
    wrong = problems(settings)
    if wrong:
        raise BadInputError(" ".join(wrong.values()))
    text = json.dumps(dataclasses.asdict(settings), indent=2) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise GrpoGuiError(
            f"The settings cannot be saved to {path} ({error.strerror}). Check the rights and the room in that folder."
        ) from error


def _from_fields(fields: object) -> Settings:
    """Fields that this version does not know are left out; missing ones get their defaults."""
    if not isinstance(fields, dict):
        raise BadInputError("it holds no JSON object")
    names = {field.name for field in dataclasses.fields(Settings)}
    settings = Settings(**{name: value for name, value in fields.items() if name in names})
    wrong = problems(settings)
    if wrong:
        raise BadInputError(" ".join(wrong.values()))
    return settings


def _put_aside(path: Path, reason: str) -> str:
    aside = path.with_name(path.name + ".broken")
    number = 2
    while aside.exists():
        aside = path.with_name(f"{path.name}.broken-{number}")
        number += 1
    try:
        path.rename(aside)
    except OSError:
        return f"The settings {path} cannot be used ({reason}); defaults are used until the file is mended."
    return f"The settings could not be used ({reason}). They were kept as {aside}, and the defaults are used."


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


_CHECKS: dict[str, tuple[Callable[[object], bool], str]] = {
    "theme": (lambda value: value in THEMES, f"The theme is one of {', '.join(THEMES)}."),
    "device": (
        lambda value: isinstance(value, str) and _DEVICE.fullmatch(value) is not None,
        "The device is auto, cpu, mps, cuda or cuda:N.",
    ),
    "threads": (
        lambda value: _is_whole(value, 1, MAX_THREADS),
        f"Threads is a whole number from 1 to {MAX_THREADS}.",
    ),
    "pause_on_broken": (lambda value: isinstance(value, bool), "Whether to pause broken runs is true or false."),
    "database": (lambda value: isinstance(value, str) and "\0" not in value, "The database is the name of a file."),
    "eval_steps": (
        lambda value: _is_whole(value, 0, 1_000_000),
        "The evaluation interval is a whole number of steps from 0 (never) to 1000000.",
    ),
    "rater": (
        lambda value: isinstance(value, str) and len(value) <= MAX_RATER and value.isprintable(),
        f"The rater's name has at most {MAX_RATER} characters, on one line.",
    ),
}
