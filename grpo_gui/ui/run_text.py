"""How a run is named and described in words."""

from datetime import datetime

from grpo_gui.events import RunStatus
from grpo_gui.store.records import RunRecord

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
PILL_KINDS = {
    RunStatus.WARMING_UP: "plain",
    RunStatus.RUNNING: "good",
    RunStatus.PAUSED: "warn",
    RunStatus.WAITING: "warn",
    RunStatus.FINISHED: "good",
    RunStatus.STOPPED: "plain",
    RunStatus.HANDED_OVER: "plain",
    RunStatus.FAILED: "bad",
    RunStatus.INTERRUPTED: "warn",
}


def run_title(run: RunRecord) -> str:
    """Return what the run selector shows: `sort · seed 0`; runs made elsewhere may not tell their seed."""
    return f"{run.name} · seed {run.seed}" if run.seed >= 0 else run.name


def run_detail(run: RunRecord) -> str:
    """Return status, place and start of a run: `finished, step 120 · 14:02`."""
    return f"{run.status.value}, step {run.steps_done} · {start_time(run.created_s)}"


def start_time(seconds: float, now_s: float | None = None) -> str:
    """Return the local time of today, `26 Nov 14:02` of this year, `26 Nov 2025` of another one."""
    moment = datetime.fromtimestamp(seconds)
    today = datetime.now() if now_s is None else datetime.fromtimestamp(now_s)
    day = f"{moment.day} {_MONTHS[moment.month - 1]}"
    if moment.year != today.year:
        return f"{day} {moment.year}"
    return moment.strftime("%H:%M" if moment.date() == today.date() else f"{day} %H:%M")


def is_continuable(run: RunRecord | None, steps: int) -> bool:
    """True for a run that ended before its last step, so that it can go on.

    One that was cut off before it saved a state begins anew; only a branch has its beginning elsewhere.
    """
    ended_early = (RunStatus.STOPPED, RunStatus.INTERRUPTED, RunStatus.FAILED, RunStatus.HANDED_OVER)
    if run is None or run.status not in ended_early or run.steps_done >= steps:
        return False
    return run.state_path is not None or run.parent_run_id is None
