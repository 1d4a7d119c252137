"""Keeps a run's record up to date from its events, without asking the database."""

from dataclasses import replace

from grpo_gui.events import Event, RunStarted, StateSaved, StepCompleted, TrainerStatus
from grpo_gui.store.records import RunRecord


def counted(run: RunRecord, events: list[Event]) -> RunRecord:
    """Return the record as it stands after these events; the same object where none is the run's own."""
    for event in events:
        if event.run_id != run.id:
            continue
        if isinstance(event, TrainerStatus):
            run = replace(run, status=event.status, message=event.message)
        elif isinstance(event, RunStarted):
            run = replace(run, device=event.device, parameters=event.parameters, versions=event.versions)
        elif isinstance(event, StepCompleted):
            sampled = sum(len(group.completions) for group in event.groups)
            run = replace(run, steps_done=event.step, completions=run.completions + sampled)
        elif isinstance(event, StateSaved):
            run = replace(run, state_path=event.path)
    return run
