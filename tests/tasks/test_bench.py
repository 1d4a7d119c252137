from pathlib import Path

from grpo_gui.tasks.bench import BenchReward, fuzz_texts, run_bench
from grpo_gui.tasks.problem import Problem
from grpo_gui.tasks.reward_file import confirm

PROBLEM = Problem("add", "What is 2 + 2?", "4")


def test_that_the_fuzz_set_holds_the_usual_tricks() -> None:
    texts = dict(fuzz_texts(PROBLEM, ["1", "2", "4"]))
    assert texts["empty"] == ""
    assert texts["prompt echo"] == "What is 2 + 2?"
    assert texts["list of all answers"] == "1 2 4 no"
    assert len(set(texts["repeated token"].split())) == 1
    assert len(texts["very long"]) > 10_000


def test_that_the_bench_shows_what_a_hackable_reward_pays_for() -> None:
    rewards = [BenchReward("exact", "exact", ""), BenchReward("hack", "contains_plus_length", "")]
    rows = {row.label: row.values for row in run_bench(rewards, PROBLEM, [("typed", "4"), *fuzz_texts(PROBLEM, ["4"])])}
    assert rows["typed"] == (1.0, 1.2)
    assert rows["empty"] == (0.0, 0.0)
    assert rows["list of all answers"][0] == 0.0
    assert isinstance(rows["very long"][1], float)
    assert rows["very long"][1] > 1000


def test_that_a_failing_function_shows_its_sentence_and_the_others_go_on(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def inverse(completions, **columns): return [1 / len(text) for text in completions]\n")
    confirm(path)
    rewards = [BenchReward("inverse", "python", f"{path}::inverse"), BenchReward("exact", "exact", "")]
    failed, worked = run_bench(rewards, PROBLEM, [("empty", ""), ("typed", "4")])
    assert "ZeroDivisionError" in str(failed.values[0])
    assert "Traceback" in failed.details[0]
    assert failed.values[1] == 0.0
    assert worked.values == (1.0, 1.0)
