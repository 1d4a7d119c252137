"""What lies before and beside a run's curves: where it was taken up again, its parent, and steps that were replaced."""

from dataclasses import dataclass

from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import SeriesPoints
from grpo_gui.store.records_snapshots import SeamRecord

METRIC = "reward"


@dataclass(frozen=True, slots=True)
class RunPast:
    """The past of one run; curves are those of the reward.

    `parent` ends where the branch leaves it; `replaced` has one curve for each time that the run was resumed earlier.
    """

    run_id: int = 0
    seams: tuple[SeamRecord, ...] = ()
    parent_run_id: int | None = None
    parent_step: int | None = None
    parent: SeriesPoints | None = None
    replaced: tuple[SeriesPoints, ...] = ()


def read_past(reader: StoreReader, run_id: int) -> RunPast:
    """Read the past of a run."""
    run = reader.run(run_id)
    if run is None:
        return RunPast(run_id)
    parent = None
    if run.parent_run_id is not None and run.parent_step is not None:
        points = reader.points(run.parent_run_id, METRIC)
        shared = points.steps <= run.parent_step
        parent = SeriesPoints(points.name, points.definition_id, points.steps[shared], points.values[shared])
    return RunPast(
        run_id,
        reader.seams(run_id),
        run.parent_run_id,
        run.parent_step,
        parent,
        reader.superseded_points(run_id, METRIC),
    )
