"""The composition root of the window: the only package that knows every part."""

from pathlib import Path


def open_window(database: Path | None) -> int:
    """Open the window on `database`, or on the one of the settings, and return when it is closed.

    Without a display the default run is trained headless instead.

    Raises:
        GrpoGuiError: the headless run cannot be trained; a window shows its errors itself.
    """
    from grpo_gui.app.no_display import has_display, train_without_display

    if not has_display():
        return train_without_display(database)
    from grpo_gui.app.windows_dlls import preload_torch

    preload_torch()
    from grpo_gui.app.desktop import run_desktop  # Qt comes after torch's libraries

    return run_desktop(database)
