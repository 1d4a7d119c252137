"""What differs between the settings of runs: from their configs as stored, also those of other programs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from grpo_gui.store.records import ChangeRecord, RunRecord
from grpo_gui.ui.formatting import NOTHING


@dataclass(frozen=True, slots=True)
class Setting:
    """One row: a setting and its value in each run, an en dash where a run has no such setting."""

    name: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """True when not all runs have the same."""
        return len(set(self.values)) > 1


def settings_of(runs: Sequence[tuple[RunRecord, Sequence[ChangeRecord]]]) -> list[Setting]:
    """Every setting of the runs; those that differ first, else in the order of the configs.

    A setting changed while a run trained has a second row with the value at the end.
    """
    configs = [flat_config(run.config) for run, _ in runs]
    ends = [_values_at_the_end(changes) for _, changes in runs]
    names = dict.fromkeys(name for config in configs for name in config)
    changed = dict.fromkeys(name for end in ends for name in end)
    rows = []
    for name in dict.fromkeys((*names, *changed)):
        values = [config.get(name, NOTHING) for config in configs]
        rows.append(Setting(name, tuple(values)))
        if name in changed:
            last = tuple(end.get(name, value) for end, value in zip(ends, values, strict=True))
            rows.append(Setting(f"{name}, end", last))
    return sorted(rows, key=lambda row: not row.differs)


def flat_config(text: str) -> dict[str, str]:
    """A config of any program as name -> value in words; nested settings get dotted names."""
    try:
        values = json.loads(text)
    except json.JSONDecodeError:
        return {}
    return dict(_flat("", values)) if isinstance(values, dict) else {}


def seedless(run: RunRecord) -> tuple[tuple[str, str], ...]:
    """The config of a run without its seed: runs that differ in nothing else are seeds of one experiment."""
    config = flat_config(run.config)
    return tuple(sorted((name, value) for name, value in config.items() if name not in ("seed", "data_seed")))


def _flat(prefix: str, values: dict[str, object]) -> list[tuple[str, str]]:
    found = []
    for name, value in values.items():
        if isinstance(value, dict) and value:
            found += _flat(f"{prefix}{name}.", value)
        elif isinstance(value, list) and value and all(isinstance(item, dict) and "name" in item for item in value):
            found += [entry for item in value for entry in _flat(f"{prefix}{name}.{item['name']}.", item)]
        else:
            found.append((prefix + name, _words(value)))
    return found


def _words(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case str():
            return value or "none"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _values_at_the_end(changes: Sequence[ChangeRecord]) -> dict[str, str]:
    return {change.name: _words(change.new) for change in changes}
