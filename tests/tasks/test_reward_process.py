import os
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from grpo_gui.errors import RewardError
from grpo_gui.tasks.reward_file import FunctionReference, confirm
from grpo_gui.tasks.reward_process import ForeignReward
from grpo_gui.tasks.rewards import REWARDS

Make = Callable[..., ForeignReward]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[ForeignReward] = []
    path = tmp_path / "rewards.py"

    def make_reward(source: str, timeout_s: float = 60.0) -> ForeignReward:
        path.write_text(source)
        confirm(path)
        made.append(ForeignReward(FunctionReference(path, "reward"), timeout_s))
        return made[-1]

    yield make_reward
    for reward in made:
        reward.close()


def score(reward: ForeignReward, *completions: object, **columns: list[object]) -> list[float | None]:
    count = len(completions)
    return reward(["p"] * count, list(completions), answer=["a"] * count, completion_ids=[[1]] * count, **columns)


def test_that_a_function_gets_prompts_completions_and_columns_and_may_print(make: Make) -> None:
    reward = make(
        "def reward(prompts, completions, answer, level, **columns):\n"
        "    print('not a reply')\n"
        "    assert prompts == ['p', 'p'] and answer == ['a', 'a'] and 'completion_ids' in columns\n"
        "    return [len(text) + number for text, number in zip(completions, level)]\n"
    )
    assert score(reward, "abc", "\ud83d\ude00 x", level=[1, 2.5]) == [4.0, 5.5]


def test_that_an_async_function_without_further_columns_and_with_no_opinion_works(make: Make) -> None:
    reward = make(
        "import asyncio\n"
        "async def reward(completions):\n"
        "    await asyncio.sleep(0)\n"
        "    return [None if not text else True for text in completions]\n"
    )
    assert score(reward, "", "x") == [None, 1.0]


def test_that_chat_completions_arrive_as_messages(make: Make) -> None:
    reward = make("def reward(completions, **columns): return [len(c[0]['content']) for c in completions]\n")
    assert score(reward, [{"role": "assistant", "content": "four"}]) == [4.0]


def test_that_numpy_arrays_and_their_scalars_are_taken(make: Make) -> None:
    reward = make(
        "import numpy as np\n"
        "def reward(completions, **columns):\n"
        "    return np.ones(2) if completions[0] == 'array' else [np.float32(0.5), np.int64(2)]\n"
    )
    assert score(reward, "array", "x") == [1.0, 1.0]
    assert score(reward, "scalars", "x") == [0.5, 2.0]


def test_that_an_exception_is_told_with_its_traceback_and_the_completion_that_caused_it(make: Make) -> None:
    reward = make("def reward(completions, **columns):\n    return [1 / len(text) for text in completions]\n")
    with pytest.raises(RewardError, match=r"'reward' in .*rewards.py raised ZeroDivisionError") as caught:
        score(reward, "good", "", "fine")
    assert caught.value.details.startswith("Completion:\n\n")
    assert "line 2, in reward" in caught.value.details
    assert "reward_worker" not in caught.value.details
    assert score(reward, "good") == [0.25]


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("[1.0]", "returned 1 values for 2 completions"),
        ("[1.0, 'x']", "returned 'x', which is no finite number"),
        ("[1.0, float('nan')]", "returned nan"),
        ("[1.0, float('inf')]", "returned inf"),
        ("[1.0, [2.0]]", r"returned \[2.0\]"),
        ("5", "returned int instead of a list"),
        ("None", "returned NoneType instead of a list"),
        ("{'a': 1}", "returned dict instead of a list"),
    ],
)
def test_that_an_unusable_answer_is_told(make: Make, returned: str, said: str) -> None:
    reward = make(f"def reward(completions, **columns): return {returned}\n")
    with pytest.raises(RewardError, match=said):
        score(reward, "one", "two")


def test_that_a_hang_is_ended_and_the_completion_named(make: Make) -> None:
    reward = make(
        "import time\n"
        "def reward(completions, **columns):\n"
        "    while 'hang' in completions: time.sleep(0.01)\n"
        "    return [1.0 for _ in completions]\n",
        timeout_s=1.0,
    )
    assert score(reward, "a", "b") == [1.0, 1.0]
    with pytest.raises(RewardError, match="no answer within 1 s") as caught:
        score(reward, "a", "hang", "b")
    assert "Completion:\nhang" in caught.value.details
    assert psutil.Process().children() == []
    assert score(reward, "again") == [1.0]


def test_that_code_that_ends_its_process_is_told_with_what_it_printed(make: Make) -> None:
    reward = make(
        "import os, sys\ndef reward(completions, **columns):\n    print('bye', flush=True)\n    os._exit(7)\n"
    )
    with pytest.raises(RewardError, match=r"ended its process \(exit code 7\)") as caught:
        score(reward, "x")
    assert "bye" in caught.value.details


def test_that_a_file_that_cannot_be_loaded_is_told(make: Make) -> None:
    reward = make("import no_such_package\ndef reward(completions): return []\n")
    with pytest.raises(RewardError, match="could not be loaded: ModuleNotFoundError") as caught:
        score(reward, "x")
    assert "line 1, in <module>" in caught.value.details


def test_that_a_changed_file_is_not_run(make: Make, tmp_path: Path) -> None:
    reward = make("def reward(completions, **columns): return [1.0 for _ in completions]\n")
    (tmp_path / "rewards.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\ndef reward(completions): return [2.0]\n"
    )
    with pytest.raises(RewardError, match="changed since you confirmed"):
        score(reward, "x")
    assert not (tmp_path / "ran").exists()


def test_that_a_mended_and_confirmed_file_is_read_again(make: Make, tmp_path: Path) -> None:
    reward = make("def reward(completions, **columns): raise ValueError('no')\n")
    with pytest.raises(RewardError):
        score(reward, "x")
    (tmp_path / "rewards.py").write_text("def reward(completions, **columns): return [2.0]\n")
    confirm(tmp_path / "rewards.py")
    assert score(reward, "x") == [2.0]


def test_that_what_the_code_started_ends_with_it(make: Make) -> None:
    reward = make(
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "def reward(completions, **columns): return [float(child.pid)]\n"
    )
    (pid,) = score(reward, "x")
    assert pid is not None
    process = psutil.Process(int(pid))
    reward.close()
    if os.name == "posix":
        psutil.wait_procs([process], timeout=10)
        assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_that_math_verify_compares_values() -> None:
    pytest.importorskip("math_verify", reason="needs the extra math")
    kind = REWARDS["math_verify"]
    assert kind.check("") is None
    assert "takes no argument" in (kind.check("x") or "")
    reward = kind.make("")
    assert isinstance(reward, ForeignReward)
    try:
        texts, answers = ["so $\\frac{1}{2}$", "3", "x", "5"], ["0.5", "4", "2", None]
        given = reward(["p"] * 4, texts, answer=answers, completion_ids=[[1]] * 4)
        assert given == [1.0, 0.0, 0.0, None]
    finally:
        reward.close()
