"""How a training process ends: each in a process of its own, without TRL."""

import json
import os
import signal
import subprocess
import sys

import pytest

BEGIN = """
import os, sys
from pathlib import Path
from grpo_gui.outside.trl_record import Recorder
recorder = Recorder(Path(sys.argv[1]), 0)
recorder.start(0, {})
recorder.write("metrics", 3, [{"values": {"reward": 0.5}}])
"""


def end_of(tmp_path, code, *, before="", stop=False):
    """What stands in the record of a process, how it ended and what it said."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-c", before + BEGIN + code, str(tmp_path)]
    with subprocess.Popen(command, text=True, **pipes) as process:
        if stop:
            assert process.stdout.readline() == "begun\n"
            process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    events = [json.loads(line) for line in (tmp_path / "rank0.jsonl").read_text(encoding="utf-8").splitlines()]
    ends = [(event["step"], event["status"], event.get("message")) for event in events if event["kind"] == "end"]
    return ends, process.returncode, said


@pytest.mark.parametrize(
    ("code", "status", "message", "returncode"),
    [
        ("raise ValueError('no such column')", "failed", "ValueError: no such column", 1),
        ("raise SystemExit(3)", "failed", "The program ended before the run did.", 3),
        ("", "failed", "The program ended before the run did.", 0),
        ("recorder.write('end', 3, [{'status': 'finished'}]); raise ValueError('later')", "finished", None, 1),
        ("recorder.write('end', 3, [{'status': 'stopped'}])", "stopped", None, 0),
        ("recorder.start(3, {}); raise OSError(28, 'No space')", "failed", "OSError: [Errno 28] No space", 1),
    ],
    ids=["an error", "an exit", "its last line", "an error after the run", "a stop", "an error of the second training"],
)
def test_that_the_end_of_a_process_is_the_end_of_its_run(tmp_path, code, status, message, returncode):
    ends, code_of, said = end_of(tmp_path, code)
    assert ends == [(3, status, message)]
    assert code_of == returncode
    assert ("Traceback" in said) == ("raise" in code and "SystemExit" not in code)


def test_that_the_users_error_is_shown_where_nothing_can_be_recorded(tmp_path):
    code = "import shutil; shutil.rmtree(sys.argv[1]); Path(sys.argv[1]).touch(); raise ValueError('mine')"
    with subprocess.Popen(
        [sys.executable, "-c", BEGIN + code, str(tmp_path / "run")], text=True, stderr=subprocess.PIPE
    ) as process:
        _, said = process.communicate(timeout=60)
    assert said.splitlines()[-1] == "ValueError: mine"
    assert process.returncode == 1


def test_that_a_hook_that_was_there_before_still_gets_the_error(tmp_path):
    hook = "import sys\nsys.excepthook = lambda kind, error, trace: print('mine:', error, file=sys.stderr)\n"
    ends, _, said = end_of(tmp_path, "raise ValueError('x')", before=hook)
    assert said == "mine: x\n"
    assert ends == [(3, "failed", "ValueError: x")]


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix are needed")
def test_that_ctrl_c_is_a_stop(tmp_path):
    ends, _, said = end_of(tmp_path, "print('begun', flush=True); sys.stdin.read()", stop=True)
    assert ends == [(3, "stopped", "It was interrupted by Ctrl+C.")]
    assert "KeyboardInterrupt" in said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked")
def test_that_the_end_of_a_forked_process_is_not_that_of_the_run(tmp_path):
    code = "child = os.fork()\nif not child: sys.exit(1)\nos.waitpid(child, 0)\nos._exit(0)"
    ends, _, _ = end_of(tmp_path, code)
    assert ends == []
