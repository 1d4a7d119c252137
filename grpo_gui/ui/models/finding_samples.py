"""Reads the samples that show a finding, for their rows."""

import math

from grpo_gui.diagnose.evidence import SampleRef
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import CompletionRef, GroupRecord, GroupRef
from grpo_gui.ui.widgets.sample_rows import SampleLine, reward_word


def read_samples(
    reader: StoreReader, run_id: int, detector: str, evidence: tuple[SampleRef, ...]
) -> tuple[str, tuple[SampleLine, ...]]:
    """The rows of a finding's samples; those that are not in the database (any more) are left out."""
    groups = [(ref, reader.group(GroupRef(run_id, ref.step, ref.group))) for ref in evidence]
    return detector, tuple(_line(ref, group) for ref, group in groups if group is not None)


def _line(ref: SampleRef, group: GroupRecord) -> SampleLine:
    rewards = tuple(one.reward for one in group.completions)
    chosen = ref.completion if ref.completion is not None and ref.completion < len(rewards) else None
    known = [reward for reward in rewards if reward is not None and math.isfinite(reward)]
    bounds = min([0.0, *known]), max([1.0, *known])
    place = CompletionRef(group.ref, group.completions[chosen or 0].index)
    if chosen is None:
        distinct = len({one.text for one in group.completions})
        tooltip = f"{group.prompt}\nanswer {group.answer}\nOpens this group in Completions."
        return SampleLine(place, group.prompt, rewards, bounds, None, f"{distinct} distinct", tooltip)
    one = group.completions[chosen]
    tooltip = f"{group.prompt}\n{one.text}\nOpens this completion in Completions."
    return SampleLine(place, one.text, rewards, bounds, chosen, reward_word(one.reward), tooltip)
