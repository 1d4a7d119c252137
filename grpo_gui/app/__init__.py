"""The composition root of the window: the only package that knows every part."""

from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the window as `python main.py [--db FILE]` does; return the exit code."""
    import argparse

    parser = argparse.ArgumentParser(prog="main.py", description="Open the window of grpo-gui.")
    parser.add_argument("--db", type=Path, help="database file; default: the one of the settings")
    return open_window(parser.parse_args(arguments).db)


def open_window(database: Path | None) -> int:
    """Open the window on `database`, or on the one of the settings, and return when it is closed."""
    from grpo_gui.app.windows_dlls import preload_torch

    preload_torch()
    from grpo_gui.app.desktop import run_desktop  # Qt comes after torch's libraries

    return run_desktop(database)
