"""What the views ask of the database: one object per thread, read-only, plain records out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from grpo_gui.rating_events import RatableGroup, StoredRating
from grpo_gui.store import (
    completion_reads,
    diagnosis_reads,
    group_reads,
    outside_reads,
    rating_reads,
    router_reads,
    run_reads,
    series_reads,
    shelf_reads,
    snapshot_reads,
)
from grpo_gui.store.reading import ReadConnection
from grpo_gui.store.records import (
    ChangeRecord,
    CompletionPage,
    CompletionQuery,
    GroupPage,
    GroupRecord,
    GroupRef,
    NoteRecord,
    RunRecord,
    SeriesPoints,
    StepTotals,
)
from grpo_gui.store.records_diagnosis import FindingRecord, StoredStep
from grpo_gui.store.records_outside import OutsideRun, SourceRecord
from grpo_gui.store.records_router import DecisionQuery, DecisionRecord, RouterLogEntry, WeightPoint
from grpo_gui.store.records_runs import BinnedRun, RankedGroup, SharedPrompt, Sparkline
from grpo_gui.store.records_snapshots import PairRating, PairRef, SeamRecord, SnapshotRecord


class StoreReader:
    """Reads the database while others write it; used only in the thread that made it.

    Every method raises StoreError, with a sentence, when the database cannot be read.
    """

    def __init__(self, path: Path) -> None:
        """Open the database read-only.

        Raises:
            StoreError: there is no database, or it cannot be read by this version.
        """
        self._connection = ReadConnection(path)

    def close(self) -> None:
        """Close the connection; calling it again does nothing."""
        self._connection.close()

    def __enter__(self) -> "StoreReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def data_version(self) -> int:
        """A number that changes whenever somebody else has committed."""
        return int(self._connection.rows("PRAGMA data_version")[0][0])

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, newest first."""
        return run_reads.runs(self._connection)

    def run(self, run_id: int) -> RunRecord | None:
        """One run, None when it is not there."""
        return run_reads.run(self._connection, run_id)

    def changes(self, run_id: int) -> tuple[ChangeRecord, ...]:
        """The hyperparameters changed while the run was going, in order."""
        return run_reads.changes(self._connection, run_id)

    def notes(self, run_id: int) -> tuple[NoteRecord, ...]:
        """The user's notes, by step."""
        return run_reads.notes(self._connection, run_id)

    def tasks(self, run_id: int) -> tuple[str, ...]:
        """The tasks that the run has sampled, by name."""
        return run_reads.tasks(self._connection, run_id)

    def series_names(self, run_id: int) -> tuple[str, ...]:
        """The metrics of a run, in the order in which they first came."""
        return series_reads.series_names(self._connection, run_id)

    def points(self, run_id: int, name: str, after_step: int | None = None) -> SeriesPoints:
        """The points of one metric after a step, by rising step; empty when the run has no such metric."""
        return series_reads.points(self._connection, run_id, name, after_step)

    def totals(self, run_id: int, after_step: int | None = None) -> StepTotals:
        """The step table of a run after a step, by rising step."""
        return series_reads.totals(self._connection, run_id, after_step)

    def newest_step(self, run_id: int) -> int | None:
        """The newest step that is stored, None before the first."""
        return series_reads.newest_step(self._connection, run_id)

    def newest_sampled_step(self, run_id: int) -> int | None:
        """The newest step with samples (other programs keep those of some steps only), None without one."""
        return series_reads.newest_sampled_step(self._connection, run_id)

    def group(self, ref: GroupRef) -> GroupRecord | None:
        """One group, None when it is not there."""
        return group_reads.group(self._connection, ref)

    def groups_of_step(self, run_id: int, step: int) -> tuple[GroupRecord, ...]:
        """All groups of a step, in order of the prompts."""
        return group_reads.groups_of_step(self._connection, run_id, step)

    def completion_page(
        self, query: CompletionQuery, cursor: tuple[float | int, ...] | None = None, limit: int = 200
    ) -> CompletionPage:
        """The next completions after `cursor` in the query's order.

        Raises:
            BadInputError: there is no such order.
        """
        return completion_reads.completion_page(self._connection, query, cursor, limit)

    def group_page(
        self, query: CompletionQuery, cursor: tuple[float | int, ...] | None = None, limit: int = 50
    ) -> GroupPage:
        """The next groups that hold a completion of the query, each with its matching completions.

        A group stands where its first completion in the query's order stands.

        Raises:
            BadInputError: there is no such order.
        """
        return completion_reads.group_page(self._connection, query, cursor, limit)

    def count(self, query: CompletionQuery) -> tuple[int, int]:
        """How many completions the query finds, and in how many groups."""
        return completion_reads.count(self._connection, query)

    def router_log(self, after_id: int = 0) -> tuple[RouterLogEntry, ...]:
        """The entries of the router's log after an id, in order."""
        return router_reads.log(self._connection, after_id)

    def router_decisions(
        self, query: DecisionQuery, before: int | None = None, limit: int = 50
    ) -> tuple[DecisionRecord, ...]:
        """The newest of the router's decisions that the query finds, those below number `before` only."""
        return router_reads.decisions(self._connection, query, before, limit)

    def router_weights(self, query_class: str, model: str) -> tuple[WeightPoint, ...]:
        """A weight of the router after each rating that moved it, in order."""
        return router_reads.weight_history(self._connection, query_class, model)

    def outside_run(self, run_id: int) -> OutsideRun | None:
        """Where a run came from; None for a run of this program."""
        return outside_reads.outside_run(self._connection, run_id)

    def find_outside_run(self, place: str, digest: str = "") -> OutsideRun | None:
        """The newest run that was read from a place, else one with the same content."""
        return outside_reads.find_outside_run(self._connection, place, digest)

    def outside_sources(self, run_id: int) -> tuple[SourceRecord, ...]:
        """How far each file of a run made elsewhere was read, by name."""
        return outside_reads.sources(self._connection, run_id)

    def raw_names(self, run_id: int) -> dict[str, str]:
        """How the program that made a run calls its metrics, by our names; empty for a run of this program."""
        return outside_reads.raw_names(self._connection, run_id)

    def group_ratings(self, run_id: int | None = None, after_id: int = 0) -> tuple[StoredRating, ...]:
        """The log of ratings of a run's groups, or of all runs, after an id, oldest first.

        Entries about groups that were replaced, because their run was resumed from an earlier step, are left out.
        """
        return rating_reads.group_ratings(self._connection, run_id, after_id)

    def newest_rating(self) -> int:
        """The id of the newest entry of the log of ratings, 0 without one: tells quickly whether there are new ones."""
        return rating_reads.newest_rating(self._connection)

    def rating_mode(self, run_id: int) -> str | None:
        """How the run uses ratings, where that was changed while it trained; None: as its config says."""
        return rating_reads.rating_mode(self._connection, run_id)

    def ratable_groups(self, run_id: int, after_step: int = 0) -> tuple[RatableGroup, ...]:
        """The groups of a run after a step, newest step first, as the queue of ratings needs them."""
        return rating_reads.ratable_groups(self._connection, run_id, after_step)

    def findings(self, run_id: int) -> tuple[FindingRecord, ...]:
        """The findings of a run as they were saved last: open ones first, the most severe first."""
        return diagnosis_reads.findings(self._connection, run_id)

    def muted_findings(self, run_id: int) -> frozenset[str]:
        """The detectors that are muted for a run."""
        return diagnosis_reads.muted(self._connection, run_id)

    def diagnosis_steps(
        self, run_id: int, after_step: int | None = None, samples_after: int | None = None
    ) -> Iterator[StoredStep]:
        """Every step of a run after `after_step` in the form that a diagnosis is made from, by rising step.

        Steps up to `samples_after` come without their groups, which are known already.
        """
        return diagnosis_reads.diagnosis_steps(self._connection, run_id, after_step, samples_after)

    def snapshots(self, run_id: int) -> tuple[SnapshotRecord, ...]:
        """The snapshots of a run that were not removed, newest first; superseded ones come last."""
        return snapshot_reads.snapshots(self._connection, run_id)

    def newest_run_with_snapshots(self) -> int | None:
        """The run whose snapshot was made last, None without one."""
        return snapshot_reads.newest_run_with_snapshots(self._connection)

    def seams(self, run_id: int) -> tuple[SeamRecord, ...]:
        """Where the run was taken up again after its first start, by step."""
        return snapshot_reads.seams(self._connection, run_id)

    def superseded_points(self, run_id: int, name: str) -> tuple[SeriesPoints, ...]:
        """The parts of a curve that were replaced when the run was resumed from an earlier step."""
        return snapshot_reads.superseded_points(self._connection, run_id, name)

    def pair_ratings(self, pair: PairRef) -> tuple[tuple[int, PairRating], ...]:
        """The blind ratings of two snapshots that were not taken back, with their ids, oldest first."""
        return snapshot_reads.pair_ratings(self._connection, pair)

    def binned_runs(self) -> tuple[BinnedRun, ...]:
        """The runs in the bin, those moved there last first."""
        return shelf_reads.binned_runs(self._connection)

    def sparkline(self, run_id: int, name: str, buckets: int = 48) -> Sparkline:
        """A metric of a run as at most `buckets` means over equal spans of steps."""
        return shelf_reads.sparkline(self._connection, run_id, name, buckets)

    def all_notes(self) -> dict[int, tuple[NoteRecord, ...]]:
        """The notes of all runs that have some, by step."""
        return shelf_reads.all_notes(self._connection)

    def shared_prompts(self, run_ids: Sequence[int], limit: int = 100) -> tuple[SharedPrompt, ...]:
        """The prompts that at least two of the runs have sampled: those of most runs first, then the newest."""
        return shelf_reads.shared_prompts(self._connection, run_ids, limit)

    def group_of_prompt(self, run_id: int, prompt: str, near_step: int) -> GroupRecord | None:
        """The group of a run with this prompt that lies nearest to a step, None without one."""
        place = shelf_reads.group_of_prompt(self._connection, run_id, prompt, near_step)
        return None if place is None else self.group(GroupRef(run_id, *place))

    def ranked_groups(self, run_id: int, count: int, *, best: bool) -> tuple[RankedGroup, ...]:
        """The groups with the highest or the lowest mean reward; of equal ones the newest."""
        return shelf_reads.ranked_groups(self._connection, run_id, count, best=best)
