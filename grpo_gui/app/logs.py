"""The rotating log file, and what happens to exceptions that nobody caught."""

import logging
import sys
import threading
import traceback
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

LOG_NAME = "grpo-gui.log"
MAX_BYTES = 1_000_000
BACKUPS = 3

logger = logging.getLogger(__name__)


def start_log(folder: Path) -> str | None:
    """Write warnings and news into a rotating file; return a sentence when that is not possible."""
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(folder / LOG_NAME, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8")
    except OSError as error:
        return f"The log cannot be written to {folder} ({error.strerror}); this session is not logged."
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s"))
    root.addHandler(handler)
    return None


def catch_the_uncaught(show: Callable[[str, str], None]) -> None:
    """Log exceptions that no one caught and hand those of the GUI thread to `show(sentence, traceback)`.

    PySide calls the hook for an exception in a slot and then goes on.
    """

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        details = "".join(traceback.format_exception(kind, error, trace))
        logger.error("An uncaught exception:\n%s", details)
        show(f"An error in the program ({kind.__name__}: {error}). It goes on; please report the details.", details)

    def thread_hook(arguments: threading.ExceptHookArgs) -> None:
        details = "".join(traceback.format_exception(arguments.exc_type, arguments.exc_value, arguments.exc_traceback))
        logger.error("An uncaught exception in a thread:\n%s", details)

    sys.excepthook = hook
    threading.excepthook = thread_hook
