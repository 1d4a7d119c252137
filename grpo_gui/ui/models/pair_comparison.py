"""Two snapshots that are compared: the program's comparison, made once and kept, and the blind ratings of a person."""

import time
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal

from grpo_gui.snapshots.judging import Comparison
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records_snapshots import PairRating, PairRef
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.models.blind_session import BlindSession, Pace, flipped
from grpo_gui.ui.models.snapshot_row import FileState, SnapshotRow
from grpo_gui.ui.snapshot_engine import Match, SnapshotEngine
from grpo_gui.ui.workspace import Workspace

SEED = 0
DEFAULT_GOAL = 40

Pair = tuple[SnapshotRow, SnapshotRow]
Ratings = tuple[PairRef, list[tuple[int, PairRating]]]


class PairComparison(QObject):
    """`changed` whenever there is something else to show. Lives on the GUI thread."""

    changed = Signal()

    def __init__(self, workspace: Workspace, engine: SnapshotEngine) -> None:
        super().__init__()
        self._workspace, self._engine = workspace, engine
        self._config = TrainConfig()
        self._known: dict[tuple[str, str, int], Comparison] = {}
        self._cancel: Callable[[], None] | None = None
        self._is_rating = False
        self._goal = DEFAULT_GOAL
        self._pace = Pace()
        self.run_id = 0
        self.pair: Pair | None = None
        self.prompts = 0
        self.progress: tuple[int, int] | None = None  # while the comparison is made
        self.comparison: Comparison | None = None
        self.session: BlindSession | None = None
        self.failure = ""

    @property
    def time_left_s(self) -> float | None:
        """About how long the rest of the blind ratings takes."""
        return None if self.session is None else self._pace.left_s(self.session.goal - self.session.done)

    def obstacle(self) -> str:
        """Why the pair cannot be compared now, as a sentence; empty when it can."""
        if self.pair is None:
            return "Choose two snapshots."
        first, second = self.pair
        if first.model == second.model:
            return "Choose two different ones."
        for row in self.pair:
            if row.files in (FileState.DAMAGED, FileState.MISSING):
                return row.problem
        return "" if self._workspace.torch_version else "torch is still warming up."

    def set_run(self, run_id: int, config: TrainConfig) -> None:
        """Take another run: its task, rewards and temperature are compared by."""
        self.cancel()
        self.run_id, self._config = run_id, config
        self._known.clear()
        self._set(None)

    def set_pair(self, pair: Pair | None, prompts: int) -> None:
        """Compare two snapshots of the run on so many held-out prompts; what is known already shows at once."""
        same = self.pair is not None and pair is not None and _models(self.pair) == _models(pair)
        self.pair = pair
        if same and prompts == self.prompts:
            self.changed.emit()  # only what is known of the files differs
            return
        self.prompts = prompts
        self.cancel()
        self._set(None if pair is None else self._known.get((*_models(pair), prompts)))

    def set_goal(self, goal: int) -> None:
        """Show the result of the blind ratings after so many."""
        self._goal = goal
        self._read_ratings()

    def start(self) -> None:
        """Make the comparison."""
        if self.pair is None or self.obstacle() or self.progress is not None:
            return
        key = (*_models(self.pair), self.prompts)
        match = Match(key[0], key[1], self._config, self.prompts, SEED)
        self.progress, self.failure = (0, 0), ""
        cancel = self._engine.compare(match, self._advance, partial(self._done, key), self._failed)
        if self.progress is not None:
            self._cancel = cancel
            self.changed.emit()

    def cancel(self) -> None:
        """Stop the comparison that is being made, if any."""
        if self._cancel is not None:
            self._cancel()

    def choose(self, key: str) -> None:
        """Rate the pair at hand (left, right, equal, skip), or take the newest rating back (undo)."""
        if self.session is None or self._is_rating:
            return
        if key == "undo":
            rating_id = self.session.undo()
            if rating_id is not None:
                self._workspace.write(lambda writer: writer.undo_rating(rating_id), self._undone)
            return
        rating = self.session.rating(key)
        if rating is not None:
            self._is_rating = True  # the next pair shows once this choice is kept
            self._workspace.write(
                lambda writer: writer.rate_pair(rating), partial(self._rated, self.session, rating), self._not_rated
            )

    def _set(self, comparison: Comparison | None) -> None:
        self.comparison, self.session, self.failure = comparison, None, ""
        self.changed.emit()
        self._read_ratings()

    def _advance(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress = (done, total)
            self.changed.emit()

    def _done(self, key: tuple[str, str, int], comparison: Comparison | None) -> None:
        self._cancel = self.progress = None
        if comparison is not None:
            self._known[key] = comparison
        if self.pair is not None and key == (*_models(self.pair), self.prompts):
            self._set(comparison)
        else:
            self.changed.emit()

    def _failed(self, failure: TaskFailure) -> None:
        self._cancel = self.progress = None
        self.failure = failure.message
        self.changed.emit()

    def _read_ratings(self) -> None:
        if self.comparison is not None and self.pair is not None:
            ref = PairRef(self.run_id, self.pair[0].snapshot_id, self.pair[1].snapshot_id)
            self._workspace.read(partial(_ratings, ref=ref), self._take_ratings, key="snapshots.ratings")

    def _take_ratings(self, answer: Ratings) -> None:
        ref, given = answer
        if self.comparison is None or self.pair is None or self.run_id != ref.run_id:
            return
        if (ref.first_snapshot_id, ref.second_snapshot_id) == tuple(row.snapshot_id for row in self.pair):
            self._pace = Pace()
            self.session = BlindSession(ref, self.comparison, given, self._goal)
            self.changed.emit()

    def _rated(self, session: BlindSession, rating: PairRating, rating_id: int) -> None:
        self._is_rating = False
        session.take(rating_id, rating)
        self._pace.note(time.monotonic())
        self.changed.emit()

    def _not_rated(self, failure: TaskFailure) -> None:
        self._is_rating = False
        self._workspace.problem.emit(failure.message, failure.traceback)

    def _undone(self, _: None) -> None:
        self.changed.emit()


def _models(pair: Pair) -> tuple[str, str]:
    return pair[0].model, pair[1].model


def _ratings(reader: StoreReader, ref: PairRef) -> Ratings:
    """The ratings of a pair, also those that were given when the two stood the other way round."""
    other = PairRef(ref.run_id, ref.second_snapshot_id, ref.first_snapshot_id)
    turned = [(rating_id, flipped(rating)) for rating_id, rating in reader.pair_ratings(other)]
    return ref, sorted([*reader.pair_ratings(ref), *turned], key=lambda given: given[0])
