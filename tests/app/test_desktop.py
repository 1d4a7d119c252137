"""The whole program as a process: window first, torch later; a run from the first click to the reopened window."""

# Drives the real Desktop: calls each step when its condition holds, checked 50 times a second.
DRIVER = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from grpo_gui.app import desktop as module

def drive(database, *steps):
    waiting = list(steps)
    made = module.Desktop.__init__

    def init(self, app):
        made(self, app)
        timer = QTimer(self)

        def look():
            if not waiting:
                timer.stop()
            elif waiting[0][0](self):
                waiting.pop(0)[1](self)

        timer.timeout.connect(look)
        timer.start(20)

    module.Desktop.__init__ = init
    code = module.run_desktop(Path(database))
    assert not waiting, f"{len(waiting)} steps were never reached"
    return code

def is_open(desk):
    return desk.session is not None and desk.session.window.isVisible()
"""


def test_that_the_window_is_on_screen_before_torch_is_imported(run_python):
    output = run_python(
        DRIVER
        + """
drive("a.db",
    (is_open, lambda desk: print("torch" in sys.modules, "pyqtgraph" in sys.modules)),
    (lambda desk: desk.session.workspace.torch_version, lambda desk: print(desk.session.window.status.torch.text())),
    (lambda desk: desk.session.window.form.preview.table.rowCount() == 8, lambda desk: desk.end()),
)
"""
    )
    first, second = output.splitlines()
    assert first == "False False"
    assert second.startswith("torch ")
    assert second.endswith(" ready")


def test_that_a_run_is_trained_stored_and_shown_again_by_the_next_window(run_python):
    run_python(
        DRIVER
        + """
def start(desk):
    draft = desk.session.window.form.draft
    for name, text in (("steps", "3"), ("prompts_per_step", "2"), ("eval_steps", "0")):
        draft.set_text(name, text)
    desk.session.window.form.card.start.click()

def has_ended(desk):
    run = desk.session.workspace.run
    return run is not None and not run.status.is_active and not desk.session.workspace.is_training

def close(desk):
    assert desk.session.workspace.run.status.value == "finished", desk.session.workspace.run
    desk.session.window.close()

drive("a.db", (is_open, start), (has_ended, close))
"""
    )
    output = run_python(
        DRIVER
        + """
def is_shown(desk):
    return is_open(desk) and desk.session.workspace.run is not None and not desk.session.window.train.shows_form

def tell(desk):
    run = desk.session.workspace.run
    print(run.status.value, run.steps_done, run.completions, desk.session.window.tools.progress.place.text())
    desk.end()

drive("a.db", (is_shown, tell))
"""
    )
    assert output.splitlines() == ["finished 3 48 finished at step 3"]


def test_that_a_second_window_on_one_database_says_so(run_python):
    output = run_python(
        DRIVER
        + """
from PySide6.QtWidgets import QApplication, QMessageBox
from grpo_gui.store.lock import WindowLock

other = WindowLock(Path("a.db"))
other.acquire()

def quit_dialog(desk):
    box = QApplication.activeModalWidget()
    print(box.text())
    next(button for button in box.buttons() if button.text() == "Quit").click()

code = drive("a.db", (lambda desk: isinstance(QApplication.activeModalWidget(), QMessageBox), quit_dialog))
print(code)
"""
    )
    assert "Another window shows the database" in output
    assert output.splitlines()[-1] == "1"


def test_that_an_exception_in_a_slot_is_logged_and_shown(run_python, tmp_path):
    output = run_python(
        DRIVER
        + """
from PySide6.QtWidgets import QApplication, QMessageBox

def fail(desk):
    QTimer.singleShot(0, lambda: 1 / 0)

def boxes():
    return [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QMessageBox)]

def tell(desk):
    print(boxes()[0].text())
    desk.end()

drive("a.db", (is_open, fail), (lambda desk: bool(boxes()), tell))
"""
    )
    assert "ZeroDivisionError" in output
    logs = list(tmp_path.rglob("grpo-gui.log"))
    assert len(logs) == 1
    assert "ZeroDivisionError" in logs[0].read_text()
