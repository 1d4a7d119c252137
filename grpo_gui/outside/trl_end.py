"""Records that a process ended before its runs did, and by which error. The error itself goes its usual way."""

import atexit
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

LONGEST = 2000  # characters of an error

Tell = Callable[[str, str], None]  # status and message; may raise OSError

_waiting: dict[str, tuple[int, Tell]] = {}  # run: the process that trains it, and how its end is told
_installed: list[bool] = []


def expect_end(run: str, tell: Tell) -> None:
    """Call `tell` when this process ends before `has_ended` was called for the run."""
    _waiting[run] = (os.getpid(), tell)
    if not _installed:
        _installed.append(True)
        sys.excepthook = _hook(sys.excepthook)
        atexit.register(_tell_all, "failed", "The program ended before the run did.")


def has_ended(run: str) -> None:
    """The run came to its end."""
    _waiting.pop(run, None)


def _hook(
    before: Callable[[type[BaseException], BaseException, TracebackType | None], object],
) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        try:
            before(kind, error, trace)  # first, so that nothing of ours comes between the error and its reader
        finally:
            if issubclass(kind, KeyboardInterrupt):
                _tell_all("stopped", "It was interrupted by Ctrl+C.")
            else:
                _tell_all("failed", "".join(traceback.format_exception_only(kind, error)).strip()[:LONGEST])

    return hook


def _tell_all(status: str, message: str) -> None:
    for run, (process, tell) in list(_waiting.items()):
        has_ended(run)
        if process == os.getpid():  # a forked process inherits what its parent expects
            with suppress(OSError):  # the disk may be what ended the run
                tell(status, message)
