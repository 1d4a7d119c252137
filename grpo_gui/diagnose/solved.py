"""When a task counts as solved: a status of the run, and the reason why some alarms are expected."""

import numpy as np

from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.statistics import mean_of

HELD_OUT = 0.95  # held-out accuracy of a solved task
NEARLY = 0.85  # share of right completions in training, mean of the last steps
STILL_NEARLY = 0.75  # down to which it stays so, once it was
BETTER_THAN_HELD_OUT = 0.2
ALL_RIGHT = 0.8  # share of the dead groups that are all right
STEPS = 20


def is_mastered(history: History) -> bool:
    """Whether the groups that teach nothing are all right, and hardly anything is wrong any more.

    Solved: held-out accuracy >= .95. Nearly solved: at least 85 % right in training over the last 20 steps, and from
    then on at least 75 %, as long as that is not more than 20 points better than on held-out prompts (at a low
    temperature, training shows less than there is to learn). In both cases at least 80 % of the dead groups are all
    right. Without samples nobody knows the share of right completions, so that only the first case is seen.
    """
    held_out = history.tail("eval/accuracy", 1)
    solved = bool(held_out.size) and float(held_out[0]) >= HELD_OUT
    if not solved and not _is_nearly(history):
        return False
    dead = history.tail("frac_reward_zero_std", STEPS)
    all_right = history.tail("dead_groups/all_right", STEPS)
    if not dead.size:
        return True
    if not all_right.size:
        return solved
    total = float(np.sum(dead))
    return total == 0 or float(np.sum(all_right)) >= ALL_RIGHT * total


def _is_nearly(history: History) -> bool:
    right, held_out = history.tail("samples/right", STEPS), history.tail("eval/accuracy", 1)
    if len(right) < STEPS // 2:
        return False
    share = mean_of(right)
    if held_out.size and share > float(held_out[0]) + BETTER_THAN_HELD_OUT:
        return False
    return share >= (STILL_NEARLY if history.mastered else NEARLY)
