"""How soon the next group is on screen after Enter in the Rate view, while the run trains and when it is at rest.

    python -m benchmarks.rating [--groups 50] [--json]

The window trains the preset "Rate by hand" with rating mode async, is rated by keys, is stopped, and is rated on.
The time is taken from the key event to the end of the first paint of the next group's cards. Without a display Qt's
offscreen platform is used.
"""

import argparse
import json
import os
import tempfile

from benchmarks.window import run_python

RATE = """
import json, sys, time
from collections import deque
from dataclasses import replace
from pathlib import Path
from PySide6.QtCore import QEvent, QObject, QCoreApplication, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from grpo_gui.app import desktop
from grpo_gui.commands import Stop
from grpo_gui.training.presets import preset_config

GROUPS, PAUSE_MS = int(sys.argv[2]), 250
figures = {}

class Stopwatch(QObject):
    def __init__(self, desktop):
        super().__init__(desktop)
        self.desktop, self.workspace = desktop, desktop.session.workspace
        self.window = desktop.session.window
        self.phase, self.taken, self.missing, self.started = "training", [], 0, None
        self.window.resize(1440, 900)
        config = replace(preset_config("rate-by-hand"), rating_mode="async", steps=10**6, eval_steps=0)
        self.workspace.start(config)
        self.window.installEventFilter(self)
        QTimer.singleShot(6000, self, self.open)

    def open(self):
        self.workspace.view_requested.emit("rate")
        QTimer.singleShot(3000, self, self.press)

    @property
    def view(self):
        from grpo_gui.ui.views.rate_view import RateView
        return self.window.findChild(RateView)

    def press(self):
        desk = self.view.desk
        if desk.current is None or not desk._ready:
            self.missing += 1
            QTimer.singleShot(PAUSE_MS, self, self.press)
            return
        self.send(Qt.Key.Key_1, "1")
        QTimer.singleShot(50, self, self.submit)

    def submit(self):
        self.before, self.started = self.view.desk.current, time.perf_counter()
        self.send(Qt.Key.Key_Return, "\\r")

    def send(self, key, text):
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QCoreApplication.sendEvent(self.view, QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, text))

    def eventFilter(self, watched, event):
        if event.type() != QEvent.Type.UpdateRequest or self.started is None:
            return False
        watched.event(event)  # paints
        if self.view.desk.current is not self.before:
            self.taken.append((time.perf_counter() - self.started) * 1000)
            self.started = None
            QTimer.singleShot(PAUSE_MS, self, self.next)
        return True

    def next(self):
        if len(self.taken) < GROUPS:
            self.press()
            return
        figures[self.phase] = [self.taken, self.missing]
        if self.phase == "at_rest":
            self.desktop.end()
            return
        self.phase, self.taken, self.missing = "at_rest", [], 0
        self.workspace.post(Stop())
        QTimer.singleShot(5000, self, self.press)

made = desktop.Desktop._torch_ready
def torch_ready(self, state):
    made(self, state)
    self.stopwatch = Stopwatch(self)
desktop.Desktop._torch_ready = torch_ready
desktop.run_desktop(Path(sys.argv[1]))
print(json.dumps(figures))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--groups", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        answer = json.loads(run_python(RATE, os.path.join(folder, "new.db"), str(options.groups), folder=folder))
    figures: dict[str, float] = {}
    for phase, (taken, missing) in answer.items():
        taken.sort()
        figures[f"{phase}_p50_ms"] = taken[len(taken) // 2]
        figures[f"{phase}_p95_ms"] = taken[int(0.95 * len(taken))]
        figures[f"{phase}_max_ms"] = taken[-1]
        figures[f"{phase}_not_at_hand"] = missing
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:24} {value:8.1f}")


if __name__ == "__main__":
    main()
