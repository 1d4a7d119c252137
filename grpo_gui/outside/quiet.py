"""Tells when a followed run has stalled: nothing came for much longer than its steps usually take."""

from collections import deque
from statistics import median

QUIET_S = 60.0
QUIET_STEPS = 10


class QuietClock:
    """Feed it the steps as they come. `quiet_s` is the least time without news that counts as a stall."""

    def __init__(self, now_s: float, quiet_s: float = QUIET_S) -> None:
        self._quiet_s = quiet_s
        self._last_s = now_s
        self._step = -1
        self._gaps: deque[float] = deque(maxlen=20)

    def news(self, now_s: float, step: int | None = None) -> None:
        """Something came; `step` when it was a later one."""
        if step is not None and step > self._step:
            if self._step >= 0 and now_s > self._last_s:
                self._gaps.append(now_s - self._last_s)
            self._step = step
        self._last_s = now_s

    def stall(self, now_s: float) -> str:
        """A sentence while the run is stalled, else empty."""
        usual_s = median(self._gaps) if self._gaps else 0.0
        quiet_s = now_s - self._last_s
        if quiet_s < max(self._quiet_s, QUIET_STEPS * usual_s):
            return ""
        usual = f", while a step took {_duration(usual_s)} before" if self._gaps else ""
        minutes = _duration(max(self._quiet_s, quiet_s // 60 * 60))
        return f"Nothing has come from this run for {minutes}{usual}; look whether it still runs."


def _duration(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"
