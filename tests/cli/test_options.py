"""Which database a command works on."""

from pathlib import Path
from types import SimpleNamespace

from grpo_gui.cli import options
from grpo_gui.settings import Settings, save


def test_that_a_command_takes_its_own_database_then_the_groups_then_that_of_the_settings(tmp_path, monkeypatch):
    file = tmp_path / "settings.json"
    save(Settings(database=str(tmp_path / "mine.db")), file)
    monkeypatch.setattr(options, "settings_file", lambda: file)
    group, own = Path("group.db"), Path("own.db")
    assert options.chosen_database(SimpleNamespace(obj=group), own) == own
    assert options.chosen_database(SimpleNamespace(obj=group), None) == group
    assert options.chosen_database(SimpleNamespace(obj=None), None) == tmp_path / "mine.db"
