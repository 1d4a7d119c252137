"""When a task counts as solved: a status of the run, and the reason why some alarms are expected."""

import numpy as np

from grpo_gui.diagnose.history import History

HELD_OUT = 0.95  # held-out accuracy of a solved task
NEARLY = 0.85  # share of right completions in training, mean of the last steps
STILL_NEARLY = 0.75  # down to which it stays so, once it was
ALL_RIGHT = 0.8  # share of the dead groups that are all right
STEPS = 20


def is_mastered(history: History) -> bool:
    """Whether the groups that teach nothing are all right, and hardly anything is wrong any more.

    Solved: held-out accuracy >= .95. Nearly solved: at least 85 % right in training over the last 20 steps, and from
    then on at least 75 %. In both cases at least 80 % of the dead groups are all right. Without samples nobody knows
    the share of right completions, so that only the first case is seen.
    """
    held_out = history.tail("eval/accuracy", 1)
    solved = bool(held_out.size) and float(held_out[0]) >= HELD_OUT
    right = history.tail("samples/right", STEPS)
    nearly = len(right) >= STEPS // 2 and float(right.mean()) >= (STILL_NEARLY if history.mastered else NEARLY)
    if not solved and not nearly:
        return False
    dead = history.tail("frac_reward_zero_std", STEPS)
    all_right = history.tail("dead_groups/all_right", STEPS)
    if not dead.size:
        return True
    if not all_right.size:
        return solved
    total = float(np.sum(dead))
    return total == 0 or float(np.sum(all_right)) >= ALL_RIGHT * total
