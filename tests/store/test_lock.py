import subprocess
import sys

import pytest

from grpo_gui.errors import BadInputError, StoreError
from grpo_gui.store.lock import RunClaim, WindowLock

HOLD = """
import sys
from pathlib import Path
from grpo_gui.store.lock import RunClaim, WindowLock
lock = WindowLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""

CLAIM = """
import sys
from pathlib import Path
from grpo_gui.store.lock import RunClaim
claim = RunClaim(3, Path(sys.argv[1]))
claim.acquire()
print("held", flush=True)
sys.stdin.read()
"""


def test_that_a_second_window_on_one_database_says_so(tmp_path):
    first, second = WindowLock(tmp_path / "a.db"), WindowLock(tmp_path / "a.db")
    first.acquire()
    with pytest.raises(StoreError, match=r"Another window shows the database .*a\.db already"):
        second.acquire()
    first.release()
    second.acquire()
    second.release()


def test_that_windows_on_different_databases_do_not_meet(tmp_path):
    first, second = WindowLock(tmp_path / "a.db"), WindowLock(tmp_path / "b.db")
    first.acquire()
    second.acquire()
    first.release()
    second.release()


def test_that_a_killed_window_frees_its_database(tmp_path):
    path = tmp_path / "a.db"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreError):
            WindowLock(path).acquire()
        holder.kill()
        holder.wait()
    lock = WindowLock(path)
    lock.acquire()
    lock.release()


def test_that_a_missing_folder_is_made(tmp_path):
    lock = WindowLock(tmp_path / "deep" / "er" / "a.db")
    lock.acquire()
    lock.release()


def test_that_a_file_in_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="may not be written"):
        WindowLock(tmp_path / "file" / "a.db").acquire()


def test_that_a_run_is_trained_by_one_trainer_at_a_time(tmp_path):
    first, second = RunClaim(3, tmp_path / "run"), RunClaim(3, tmp_path / "run")
    first.acquire()
    with pytest.raises(BadInputError, match="Run 3 is being trained already"):
        second.acquire()
    first.release()
    second.acquire()
    second.release()


def test_that_a_killed_trainer_frees_its_run(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", CLAIM, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BadInputError):
            RunClaim(3, tmp_path).acquire()
        holder.kill()
        holder.wait()
    with RunClaim(3, tmp_path) as claim:
        claim.acquire()


def test_that_a_claim_in_a_folder_that_cannot_be_made_is_refused_with_its_name(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="may not be written"):
        RunClaim(3, tmp_path / "file" / "run").acquire()
