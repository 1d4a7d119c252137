"""Lets TRL's processes end when the process that looks after them is gone, however it ended.

They inherit, through any launcher, the reading end of a pipe as standard input. Only that process holds the other end,
and the system closes it when the process dies.
"""

import os
import stat
import sys
import threading

VARIABLE = "GRPO_GUI_LIFELINE"
EXIT_CODE = 70


def end_with_supervisor() -> None:
    """End this process as soon as the one that looks after it is gone; nothing for a process that people started."""
    if VARIABLE not in os.environ or not _has_pipe():
        return
    pipe = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # whoever asks for input must not wait for it
    os.close(nothing)
    threading.Thread(target=_wait, args=(pipe,), name="lifeline", daemon=True).start()


def _has_pipe() -> bool:
    """False where a launcher gave its processes another standard input: its end would say nothing."""
    try:
        return stat.S_ISFIFO(os.fstat(0).st_mode)
    except OSError:
        return False


def _wait(pipe: int) -> None:
    while os.read(pipe, 1024):
        pass
    sys.stderr.write("grpo-gui: The process that looks after this run is gone, so this one ends too.\n")
    sys.stderr.flush()
    os._exit(EXIT_CODE)  # at once: nobody would see what a slow end still does
