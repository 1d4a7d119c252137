"""Processes whose supervisor is killed; no TRL is needed for it."""

import os
import subprocess
import sys

from grpo_gui.handover.lifeline import EXIT_CODE, VARIABLE

CHILD = """
import sys, threading
from grpo_gui.handover.lifeline import end_with_supervisor
end_with_supervisor()
print(repr(sys.stdin.read()), flush=True)
threading.Event().wait()
"""
# A launcher between the two, as torchrun is: it hands its standard input on.
LAUNCHER = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', sys.argv[1]]))"
SUPERVISOR = """
import os, subprocess, sys
environment = os.environ | {sys.argv[3]: "1"}
command = [sys.executable, "-c", sys.argv[1], sys.argv[2]]
process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=sys.stdout, stderr=sys.stderr, env=environment)
process.wait()
"""


def test_that_a_process_below_a_launcher_ends_with_its_killed_supervisor_and_reads_nothing():
    command = [sys.executable, "-c", SUPERVISOR, LAUNCHER, CHILD, VARIABLE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout.readline() == "''\n"
        supervisor.kill()
        said = supervisor.stderr.read()  # ends when the last process that can write to it has ended
    assert said.splitlines() == ["grpo-gui: The process that looks after this run is gone, so this one ends too."]


def run_child(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, **options)


def test_that_a_process_with_a_lifeline_ends_with_it():
    assert run_child(CHILD, input="typed", env=os.environ | {VARIABLE: "1"}).returncode == EXIT_CODE


def test_that_a_process_without_a_lifeline_reads_what_is_typed():
    code = CHILD.replace("threading.Event().wait()", "sys.exit(0)")
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    done = run_child(code, input="typed", env=environment)
    assert (done.returncode, done.stdout) == (0, "'typed'\n")


def test_that_a_process_goes_on_whose_launcher_gave_it_another_standard_input():
    ending = "[one.join() for one in threading.enumerate() if one.name == 'lifeline']"
    code = CHILD.replace("threading.Event().wait()", ending)
    assert run_child(code, stdin=subprocess.DEVNULL, env=os.environ | {VARIABLE: "1"}).returncode == 0
