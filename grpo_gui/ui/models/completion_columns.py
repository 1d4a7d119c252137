"""The columns of the Completions view: header, definition, and each cell as text."""

from enum import IntEnum

from grpo_gui.store.records import CompletionRow, GroupSummary
from grpo_gui.ui.formatting import NOTHING, count, number, percent
from grpo_gui.ui.models.visible_text import one_line


class Column(IntEnum):
    """Columns in the order of the table. PROMPT is shown in the flat list only, where no group row names it.

    HUMAN is there only for runs with ratings as a reward.
    """

    NUMBER = 0
    PROMPT = 1
    TEXT = 2
    REWARD = 3
    HUMAN = 4
    ADVANTAGE = 5
    TOKENS = 6
    CLIPPED = 7
    KL = 8
    MARK = 9


HEADERS: dict[Column, str] = {
    Column.NUMBER: "#",
    Column.PROMPT: "prompt",
    Column.TEXT: "completion",
    Column.REWARD: "reward",
    Column.HUMAN: "human",
    Column.ADVANTAGE: "advantage",
    Column.TOKENS: "tokens",
    Column.CLIPPED: "clipped",
    Column.KL: "max KL",
    Column.MARK: "",
}
DEFINITIONS: dict[Column, str] = {
    Column.NUMBER: "Place of the completion in its group; in the flat list: step, group and completion.",
    Column.PROMPT: "The problem that was put to the model.",
    Column.TEXT: "What the model wrote, on one line; ⏎ stands for a line end.",
    Column.REWARD: "reward: the weighted sum of the sources that had an opinion. – means that none had one.",
    Column.HUMAN: "rewards/human: what your ratings of the group are worth for this completion, before their weight."
    " – means unrated, or not yet part of an update.",
    Column.ADVANTAGE: "advantage: the reward less the group's mean, scaled as the run's scale_rewards says."
    " Above 0 the completion becomes more likely, below 0 less.",
    Column.TOKENS: "completion length: tokens up to and including the end-of-sequence token.",
    Column.CLIPPED: "clip_ratio/region: share of the completion's tokens whose ratio was clipped,"
    " so that they gave no gradient.",
    Column.KL: "kl/max: the largest K3 estimate of one token, against the reference policy, in nats.",
    Column.MARK: "cut: the completion reached max_completion_length without an end-of-sequence token.",
}
# What a person may hide; the others are what the table is for.
HIDEABLE: tuple[Column, ...] = (
    Column.PROMPT,
    Column.REWARD,
    Column.HUMAN,
    Column.ADVANTAGE,
    Column.TOKENS,
    Column.CLIPPED,
    Column.KL,
    Column.MARK,
)


def cell_text(row: CompletionRow, column: Column, *, grouped: bool) -> str:
    """Give the text of one cell; one line, safe to draw."""
    match column:
        case Column.NUMBER:
            return str(row.ref.index + 1) if grouped else place_text(row)
        case Column.PROMPT:
            return one_line(row.prompt)
        case Column.TEXT:
            return one_line(row.text)
        case Column.REWARD:
            return number(row.reward)
        case Column.HUMAN:
            return number(row.human, sign=True)
        case Column.ADVANTAGE:
            return signed(row.advantage)
        case Column.TOKENS:
            return tokens_text(row)
        case Column.CLIPPED:
            return share_text(row.clip_fraction)
        case Column.KL:
            return number(row.kl_max)
        case Column.MARK:
            return "cut" if row.truncated else ""


def tokens_text(row: CompletionRow) -> str:
    """Count the tokens; a dash where they were not recorded (a sampled completion has at least one)."""
    return count(row.tokens) if row.tokens else NOTHING


def place_text(row: CompletionRow) -> str:
    """Say where a completion stands: step, group and completion, the last two counted from 1."""
    return f"{row.ref.group.step} · {row.ref.group.index + 1} · {row.ref.index + 1}"


def group_place(summary: GroupSummary) -> str:
    """Say where a group stands: step and place in the step, counted from 1."""
    return f"{summary.ref.step} · {summary.ref.index + 1}"


def right_text(summary: GroupSummary) -> str:
    """Say how many completions of a group are right; empty when there is no answer to compare with."""
    return "" if summary.right is None else f"{summary.right} of {summary.size} right"


def spread_text(summary: GroupSummary) -> str:
    """Say how far the rewards of a group lie apart, or that the group teaches nothing."""
    return f"spread {number(summary.reward_std)}" if summary.has_signal else "no signal"


def row_sentence(row: CompletionRow) -> str:
    """Describe a completion for a screen reader."""
    parts = [
        f"completion {row.ref.index + 1} of group {row.ref.group.index + 1} at step {row.ref.group.step}",
        one_line(row.text, 200),
        f"reward {number(row.reward)}" if row.reward is not None else "no reward",
        f"advantage {signed(row.advantage)}",
        f"{row.tokens} tokens" if row.tokens else "tokens not recorded",
    ]
    if row.correct is not None:
        parts.append("right" if row.correct else "wrong")
    if row.truncated:
        parts.append("cut off")
    return ", ".join(parts)


def group_sentence(summary: GroupSummary) -> str:
    """Describe a group for a screen reader."""
    parts = [
        f"group {summary.ref.index + 1} at step {summary.ref.step}",
        one_line(summary.prompt, 200),
        right_text(summary),
        spread_text(summary),
    ]
    return ", ".join(part for part in parts if part)


def signed(value: float | None, digits: int = 2) -> str:
    """Write a number with its sign, also above zero; zero has none."""
    text = number(value, digits, sign=True)
    return text.lstrip("+") if value == 0 else text


def share_text(share: float | None) -> str:
    """Write a share in [0, 1] as a percentage; exactly 0 as "0", so that the others stand out."""
    return "0" if share == 0 else percent(share)
