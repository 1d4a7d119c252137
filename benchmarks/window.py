"""How soon the window is on screen, how late its event loop runs while it trains, and what it costs the trainer.

    python -m benchmarks.window [--rounds 3] [--steps 120] [--db FILE] [--json]

Every figure comes from a process of its own. "First paint" counts from the start of that process, imports included;
with --db it is the reopening of that database, which is not changed. The trainer's speed is taken from the times at
which its steps ended, alternately without a window and beside the live Train view. Without a display Qt's offscreen
platform is used.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]

FIRST_PAINT = """
import os, sys, time
from pathlib import Path
from grpo_gui.app.windows_dlls import preload_torch
preload_torch()
from grpo_gui.app import desktop
made = desktop.Desktop._painted
def painted(self):
    print((time.time() - float(os.environ["BENCH_STARTED"])) * 1000, "torch" in sys.modules)
    desktop.WARM_UP_DELAY_MS = 10**8
    made(self)
    desktop.QTimer.singleShot(0, self, self.end)
desktop.Desktop._painted = painted
desktop.run_desktop(Path(sys.argv[1]))
"""

LIVE = """
import json, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from grpo_gui.app import desktop
from grpo_gui.events import StepCompleted
times, late = [], []
made = desktop.Desktop._torch_ready
def torch_ready(self, state):
    made(self, state)
    workspace, window = self.session.workspace, self.session.window
    window.resize(1440, 900)
    window.form.draft.set_text("steps", sys.argv[2])
    window.form.draft.set_text("eval_steps", "0")
    def take(events):
        steps = [event.time_s for event in events if isinstance(event, StepCompleted)]
        if steps and len(times) < 20:
            window.meter.values_ms.clear()  # making the view is no part of the steady state
        times.extend(steps)
        late.extend(window.meter.values_ms) if steps and len(times) >= int(sys.argv[2]) else None
        if len(times) >= int(sys.argv[2]):
            workspace.all_events.disconnect(take)
            QTimer.singleShot(0, self, self.end)
    workspace.all_events.connect(take)
    QTimer.singleShot(500, window, window.form.submit)
desktop.Desktop._torch_ready = torch_ready
from grpo_gui.ui import lateness
lateness.WINDOW = 10**6
desktop.run_desktop(Path(sys.argv[1]))
print(json.dumps({"times": times, "late": late}))
"""

HEADLESS = """
import json, queue, sys
from dataclasses import replace
from pathlib import Path
from grpo_gui.events import StepCompleted
from grpo_gui.training.headless import train_headless
from grpo_gui.training.presets import preset_config
times = []
def watch(event):
    if isinstance(event, StepCompleted):
        times.append(event.time_s)
config = replace(preset_config("default"), steps=int(sys.argv[2]), eval_steps=0)
train_headless(
    config,
    Path(sys.argv[1]),
    commands=queue.SimpleQueue(),
    watch=watch,
    started=lambda run_id: None,
    found=lambda finding: None,
)
print(json.dumps({"times": times}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--db", type=Path, help="reopen this database for the first paint")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = first_paint(options.rounds, options.db) | beside_the_window(options.rounds, options.steps)
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:32} {value:10.1f}" if isinstance(value, float) else f"{name:32} {value!s:>10}")


def first_paint(rounds: int, database: Path | None) -> dict[str, object]:
    found = []
    for _ in range(rounds + 1):  # the first one warms the disk
        with tempfile.TemporaryDirectory() as folder:
            path = str(database) if database is not None else os.path.join(folder, "new.db")
            answer = run_python(FIRST_PAINT, path, folder=folder)
            found.append(answer.split())
    times = [float(milliseconds) for milliseconds, _ in found[1:]]
    return {
        "first_paint_ms": statistics.median(times),
        "first_paint_best_ms": min(times),
        "torch_before_first_paint": any(loaded == "True" for _, loaded in found),
    }


def beside_the_window(rounds: int, steps: int) -> dict[str, object]:
    alone, beside, late = [], [], []
    for _ in range(rounds):
        for code, rates in ((HEADLESS, alone), (LIVE, beside)):
            with tempfile.TemporaryDirectory() as folder:
                answer = json.loads(run_python(code, os.path.join(folder, "new.db"), str(steps), folder=folder))
            rates.append(step_rate(answer["times"]))
            late += answer.get("late", [])
    late.sort()
    return {
        "headless_steps_per_s": statistics.median(alone),
        "beside_window_steps_per_s": statistics.median(beside),
        "beside_window_percent": 100 * statistics.median(beside) / statistics.median(alone),
        "lateness_p50_ms": late[len(late) // 2],
        "lateness_p95_ms": late[int(0.95 * len(late))],
        "lateness_max_ms": late[-1],
    }


def step_rate(times: list[float]) -> float:
    """Steps per second after the first ten: the median of the times between two steps resists other load."""
    gaps = [after - before for before, after in itertools.pairwise(times[10:])]
    return 1 / statistics.median(gaps)


def run_python(code: str, *arguments: str, folder: str) -> str:
    environment = dict(os.environ, PYTHONPATH=str(ROOT), BENCH_STARTED=str(time.time()))
    if sys.platform.startswith("linux") and not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")):
        environment["QT_QPA_PLATFORM"] = "offscreen"
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "LOCALAPPDATA"):
        environment[name] = folder  # not the settings and the window layout of whoever runs this
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout.splitlines()[-1]


if __name__ == "__main__":
    main()
