from pathlib import Path

import pytest

from grpo_gui.handover.processes import failure_sentence

LOG = Path("run/trl.log")
DATA = Path(__file__).parent / "data"


def test_that_a_killed_rank_is_named_before_those_that_lost_their_connection_to_it():
    printed = (DATA / "torchrun_killed.log").read_text(encoding="utf-8")
    assert failure_sentence(1, printed, 2, LOG) == (
        "Rank 1 ended with signal 9 (SIGKILL); the other ranks were ended with it. What was recorded until then is "
        f"kept; see {LOG}."
    )


def test_that_the_order_in_which_torchrun_noticed_does_not_matter():
    printed = (DATA / "torchrun_killed_late.log").read_text(encoding="utf-8")
    assert failure_sentence(1, printed, 2, LOG).startswith("Rank 1 ended with signal 9 (SIGKILL)")


def test_that_a_launcher_that_stumbles_over_half_a_file_has_named_the_rank_before():
    printed = (
        "E1130 22:38:20.946000 13820 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: -9) "
        "local_rank: 1 (pid: 13833) of binary: python\nTraceback (most recent call last):\n"
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n"
    )
    assert failure_sentence(1, printed, 2, LOG).startswith("Rank 1 ended with signal 9 (SIGKILL)")


def test_that_an_error_of_a_rank_is_told_with_its_last_line():
    printed = (DATA / "torchrun_error.log").read_text(encoding="utf-8")
    assert failure_sentence(1, printed, 2, LOG) == (
        "Rank 1 ended with exit code 1: The task 'file' needs a data file (JSONL, CSV, JSON or Parquet); choose one. "
        f"The whole story is in {LOG}."
    )


@pytest.mark.parametrize(
    ("code", "printed", "start"),
    [
        (1, "Traceback\n  x\nValueError: bad number\n", "Rank 0 ended with exit code 1: bad number."),
        (3, "", "Rank 0 ended with exit code 3. The whole"),
        (-9, "half a li", "Rank 0 ended with signal 9 (SIGKILL). What was"),
        (-200, "", "Rank 0 ended with signal 200."),
    ],
)
def test_that_the_end_of_a_single_process_is_told(code, printed, start):
    assert failure_sentence(code, printed, 1, LOG).startswith(start)


def test_that_a_launcher_that_failed_without_naming_a_rank_is_told():
    assert failure_sentence(2, "usage: torchrun\nerror: no\n", 2, LOG).startswith("TRL's launcher ended with exit")


def test_that_a_very_long_error_is_cut():
    assert len(failure_sentence(1, "x" * 10_000, 1, LOG)) < 500
