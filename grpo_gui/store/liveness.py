"""Whether the process that trains a run still lives: by pid and start time, since pids are used again."""

import os

import psutil

# Start times come from the system clock, which may be set while a process runs.
_TOLERANCE_S = 5.0


def own_process() -> tuple[int, float]:
    """The pid and start time (seconds since the epoch) of this process."""
    return os.getpid(), psutil.Process().create_time()


def interrupted_message(steps: int) -> str:
    """What is said of a run whose process died."""
    return f"The program ended while this run was going. Its {steps} steps were kept."


def is_alive(pid: int | None, started_s: float | None) -> bool:
    """True when the process that had this pid and start time still runs, or when nobody may tell."""
    if pid is None or started_s is None:
        return False
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return abs(float(process.create_time()) - started_s) <= _TOLERANCE_S
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True
