from pathlib import Path

from grpo_gui import paths


def test_that_a_runs_files_lie_beside_their_database_and_apart_from_other_runs():
    folder = paths.run_files_dir(Path("/data/my.db"), 7)
    assert folder == Path("/data/my-runs/00007")
    assert folder != paths.run_files_dir(Path("/data/my.db"), 8)
    assert folder != paths.run_files_dir(Path("/data/other.db"), 7)


def test_that_all_places_are_named_after_the_program_and_none_is_made(tmp_path, monkeypatch):
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    for place in (paths.default_database(), paths.settings_file(), paths.window_state_file(), paths.log_folder()):
        assert "grpo-gui" in place.parts
    assert list(tmp_path.iterdir()) == []
