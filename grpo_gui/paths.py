"""Where things lie on this machine: database, settings, log, the files of a run. Nothing is created here."""

from pathlib import Path

import platformdirs

APP = "grpo-gui"


def default_database() -> Path:
    """The database used when nobody names another one."""
    return Path(platformdirs.user_data_dir(APP, appauthor=False)) / "grpo-gui.db"


def settings_file() -> Path:
    """The file that keeps the settings of this user."""
    return Path(platformdirs.user_config_dir(APP, appauthor=False)) / "settings.json"


def window_state_file() -> Path:
    """The file that keeps the window's layout."""
    return Path(platformdirs.user_config_dir(APP, appauthor=False)) / "window.ini"


def confirmed_files_file() -> Path:
    """The file that keeps which files with reward functions this user has confirmed, by path and hash."""
    return Path(platformdirs.user_config_dir(APP, appauthor=False)) / "confirmed.json"


def log_folder() -> Path:
    """The folder of the rotating log file."""
    return Path(platformdirs.user_log_dir(APP, appauthor=False))


def run_files_dir(database: Path, run_id: int) -> Path:
    """The folder of a run's training state; it lies beside the database, so that both move together."""
    return database.parent / f"{database.stem}-runs" / f"{run_id:05d}"
