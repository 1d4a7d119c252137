"""About how much memory an event holds while it waits for the disk."""

from grpo_gui.events import Event, GroupsSampled, StepCompleted

_EVENT_BYTES = 500
_COMPLETION_BYTES = 700  # the object, its tuple of rewards, headers of strings and blobs
_TOKEN_BYTES = 16  # an id and a shared text


def event_bytes(event: Event) -> int:
    """Bytes an event holds, estimated from its texts and blobs."""
    if not isinstance(event, StepCompleted | GroupsSampled):
        return _EVENT_BYTES
    size = _EVENT_BYTES + (100 * len(event.metrics) if isinstance(event, StepCompleted) else 0)
    for group in event.groups:
        size += _EVENT_BYTES + 4 * len(group.prompt) + _TOKEN_BYTES * len(group.prompt_token_ids)
        for sample in group.completions:
            blobs = len(sample.old_logps) + len(sample.logps) + len(sample.ref_logps) + len(sample.entropy)
            size += _COMPLETION_BYTES + 4 * len(sample.text) + _TOKEN_BYTES * len(sample.token_ids) + blobs
    return size
