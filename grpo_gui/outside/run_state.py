"""What a followed run does right now, from what it says and from how long it has said nothing."""

from grpo_gui.events import RunStatus
from grpo_gui.outside.pieces import Piece, RateRow, SampleChange, ScalarRow, StartRow, StatusRow
from grpo_gui.outside.quiet import QUIET_S, QuietClock

_ENDS = {"finished": RunStatus.FINISHED, "stopped": RunStatus.STOPPED, "failed": RunStatus.FAILED}
SETTLE_S = 5.0  # what comes after the last step: an evaluation, a summary


class RunState:
    """Feed it pieces; ask it for a status. `ended` is set once the run is over."""

    def __init__(self, now_s: float, quiet_s: float = QUIET_S) -> None:
        self.step = 0
        self.max_steps: int | None = None
        self.ended: RunStatus | None = None
        self._clock = QuietClock(now_s, quiet_s)
        self._last_s = now_s
        self._paused = False
        self._waits = ""
        self._end: tuple[RunStatus, str] | None = None

    def take(self, piece: Piece, now_s: float) -> None:
        """Something came."""
        self.step = max(self.step, piece.step)
        self._clock.news(now_s, piece.step)
        self._last_s = now_s
        if isinstance(piece, StartRow):
            self._end, self._paused, self._waits = None, False, ""
        elif isinstance(piece, RateRow):
            self._waits = f"It waits for ratings of step {piece.step}: rate them, or continue without." * piece.waits
        elif isinstance(piece, StatusRow):
            self._say(piece)
        elif isinstance(piece, ScalarRow | SampleChange):
            self._waits = ""

    def _say(self, row: StatusRow) -> None:
        if row.kind == "status":
            self._paused = row.status == "paused"
        elif row.kind == "end" and (row.rank == 0 or row.status == "failed") and not self._has_failed:
            # The rank that fails first is the cause; the others lose their connection to it.
            self._end = (_ENDS.get(row.status, RunStatus.STOPPED), row.message)

    @property
    def _has_failed(self) -> bool:
        return self._end is not None and self._end[0] is RunStatus.FAILED

    def status(self, now_s: float, trouble: str) -> tuple[RunStatus, str]:
        """What it does, and a sentence or nothing. `trouble`: why its place does not answer."""
        if self._end is not None:
            self.ended = self._end[0]
            return self._end
        if self.max_steps is not None and self.step >= self.max_steps and now_s - self._last_s > SETTLE_S:
            self.ended = RunStatus.FINISHED
            return self.ended, ""
        if trouble:
            return RunStatus.WAITING, trouble
        if self._paused:
            return RunStatus.PAUSED, ""
        if self._waits:
            return RunStatus.WAITING, self._waits
        stall = self._clock.stall(now_s)
        return (RunStatus.WAITING, stall) if stall else (RunStatus.RUNNING, "")
