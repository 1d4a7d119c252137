"""What a user sets once for all runs: kept as JSON, read back forgivingly."""

import json
import logging
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path

logger = logging.getLogger(__name__)

THEMES = ("system", "light", "dark")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of this user. They fill in new runs; a run keeps its own config."""

    theme: str = "system"  # system, light, dark
    device: str = "auto"  # auto, cpu, cuda:N, mps
    threads: int = 1  # of torch
    database: str = ""  # "": the default place
    eval_steps: int = 10  # steps between two held-out evaluations; 0: never


def load_settings(path: Path) -> Settings:
    """Read the settings; a missing or damaged file gives the defaults, a bad value its own default."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        logger.warning("The settings file %s cannot be read (%s); the defaults are used.", path, error)
        return Settings()
    if not isinstance(values, dict):
        logger.warning("The settings file %s holds no JSON object; the defaults are used.", path)
        return Settings()
    good = {field.name: values[field.name] for field in fields(Settings) if _fits(field.name, values.get(field.name))}
    return Settings(**good)


def save_settings(path: Path, settings: Settings) -> None:
    """Write the settings so that a crash leaves either the old file or the new one.

    Raises:
        OSError: the folder cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(asdict(settings), indent=2) + "\n", encoding="utf-8")
    os.replace(draft, path)


def _fits(name: str, value: object) -> bool:
    match name:
        case "theme":
            return value in THEMES
        case "threads":
            return isinstance(value, int) and not isinstance(value, bool) and value >= 1
        case "eval_steps":
            return isinstance(value, int) and not isinstance(value, bool) and value >= 0
        case _:
            return isinstance(value, str)
