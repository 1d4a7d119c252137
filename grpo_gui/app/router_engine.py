"""The router in threads of its own, for the Router view; it opens when it is first looked at."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal

from grpo_gui.app.router_overview import answer_of, overview_of
from grpo_gui.router.explanation import Explanation
from grpo_gui.router.rewards import TradeOff
from grpo_gui.routing.asking import Asking, Progress
from grpo_gui.routing.service import RouterService
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records_router import DecisionQuery, DecisionRecord
from grpo_gui.store.writer import StoreWriter
from grpo_gui.ui.background_tasks import BackgroundTasks, TaskFailure
from grpo_gui.ui.router_engine import AnswerState, Asked, Cancel, Failed, NewModel, RouterOverview

logger = logging.getLogger(__name__)

CLOSE_TIMEOUT_S = 10.0


class RouterWorker(QObject):
    """A RouterEngine with one worker thread; the answers and the network have threads of their own."""

    _service_changed = Signal()

    def __init__(self, database: Path, writer: StoreWriter, threads: Callable[[], int], device: str) -> None:
        """Take how many threads torch may use now, and where models compute."""
        super().__init__()
        self._database, self._writer, self._threads, self._device = database, writer, threads, device
        self._watchers: list[Callable[[RouterOverview], None]] = []
        self._overview: RouterOverview | None = None
        self._service: RouterService | None = None
        self._tasks = BackgroundTasks(self._open, _let_be, workers=1)
        self._service_changed.connect(self._refresh, Qt.ConnectionType.QueuedConnection)

    @property
    def overview(self) -> RouterOverview | None:
        """The newest overview; None until the log has been read."""
        return self._overview

    def watch(self, changed: Callable[[RouterOverview], None]) -> None:
        """Call `changed` with every new overview."""
        self._watchers.append(changed)
        self._refresh()

    def begin(self, failed: Failed) -> None:
        """Add the models that are shipped."""
        self._do(RouterService.begin, failed)

    def explain(self, query: str, done: Callable[[Explanation], None], failed: Failed) -> None:
        """What the router thinks of a query."""
        self._tasks.run(lambda service: service.explain(query), done, failed, "explain")

    def ask(
        self,
        query: str,
        done: Callable[[Asked], None],
        on_answer: Callable[[AnswerState], None],
        failed: Failed,
        *,
        count: int | None = None,
        time_limit_s: float = 60.0,
    ) -> Cancel:
        """Choose models and ask them."""
        under_way = _UnderWay(self, on_answer)

        def work(service: RouterService) -> tuple[Asked, Asking]:
            decided, explanation, asking = service.ask(
                query, under_way.told.emit, count=count, time_limit_s=time_limit_s
            )
            return Asked(decided, explanation), asking

        def begin(result: tuple[Asked, Asking]) -> None:
            asked, asking = result
            done(asked)
            under_way.begin(asking, len(asked.decided.asked))

        def give_up(failure: TaskFailure) -> None:
            under_way.deleteLater()
            failed(failure)

        self._tasks.run(work, begin, give_up)
        return under_way.cancel

    def rate(self, decision: int, stars: Mapping[str, int], done: Callable[[], None], failed: Failed) -> None:
        """Learn from a rating."""
        given = dict(stars)
        self._tasks.run(lambda service: service.rate(decision, given), lambda _: done(), failed)

    def set_trade_off(self, trade_off: TradeOff, failed: Failed) -> None:
        """Weigh cost and time."""
        self._do(lambda service: service.set_trade_off(trade_off), failed, "trade-off")

    def set_mode(self, mode: str, failed: Failed) -> None:
        """Switch the mode."""
        self._do(lambda service: service.set_mode(mode), failed)

    def promote(self, failed: Failed) -> None:
        """Let the candidate decide."""
        self._do(RouterService.promote, failed)

    def roll_back(self, failed: Failed) -> None:
        """Let the policy before decide again."""
        self._do(RouterService.roll_back, failed)

    def set_features(self, features: str, failed: Failed) -> None:
        """Let a new candidate network begin."""
        self._do(lambda service: service.set_features(features), failed)

    def add_model(self, model: NewModel, done: Callable[[], None], failed: Failed) -> None:
        """Add a model."""

        def work(service: RouterService) -> None:
            if not model.endpoint_url:
                service.add_folder(model.name, model.location)
                return
            service.add_endpoint(
                model.name,
                model.endpoint_url,
                model.location,
                key=model.key,
                key_variable=model.key_variable,
                cost_per_1000_tokens=model.cost_per_1000_tokens,
            )

        self._tasks.run(work, lambda _: done(), failed)

    def remove_model(self, name: str, failed: Failed) -> None:
        """Do not ask a model any more."""
        self._do(lambda service: service.remove_model(name), failed)

    def rename_model(self, old: str, new: str, failed: Failed) -> None:
        """Give a model another name."""
        self._do(lambda service: service.rename_model(old, new), failed)

    def retry_model(self, name: str) -> None:
        """Try a model again."""
        self._do(lambda service: service.models.check(name), self._log)

    def history(
        self,
        query: DecisionQuery,
        before: int | None,
        done: Callable[[tuple[DecisionRecord, ...]], None],
        failed: Failed,
    ) -> None:
        """Search the decisions."""

        def read(_: RouterService) -> tuple[DecisionRecord, ...]:
            with StoreReader(self._database) as reader:
                return reader.router_decisions(query, before)

        self._tasks.run(read, done, failed, "history")

    def run_beside(self, work: Callable[[RouterService], object]) -> None:
        """Do something on the worker thread that nobody waits for."""
        self._do(work, self._log)

    def close(self) -> None:
        """Break off what is under way and end all threads."""
        self._tasks.close(CLOSE_TIMEOUT_S)
        if self._service is not None:
            self._service.close()

    def _do(self, work: Callable[[RouterService], object], failed: Failed, key: str = "") -> None:
        self._tasks.run(work, lambda _: None, failed, key)

    def _open(self) -> RouterService:
        """In the worker thread."""
        service = RouterService(
            self._database,
            self._writer,
            changed=self._service_changed.emit,
            threads=self._threads,
            device=self._device,
        )
        service.start()
        self._service = service
        return service

    def _refresh(self) -> None:
        if self._watchers:
            self._tasks.run(overview_of, self._take, self._log, "overview")

    def _take(self, overview: RouterOverview) -> None:
        self._overview = overview
        for changed in self._watchers:
            changed(overview)

    def _log(self, failure: TaskFailure) -> None:
        logger.warning("The router: %s\n%s", failure.message, failure.traceback)


class _UnderWay(QObject):
    """Brings the answers of one query to the GUI thread."""

    told = Signal(object)  # Progress

    def __init__(self, worker: RouterWorker, on_answer: Callable[[AnswerState], None]) -> None:
        super().__init__(worker)
        self._worker, self._on_answer = worker, on_answer
        self._asking: Asking | None = None
        self._is_cancelled = False
        self._left = 0
        self.told.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def begin(self, asking: Asking, models: int) -> None:
        """The decision was shown: ask."""
        self._asking, self._left = asking, models
        if self._is_cancelled:
            self._worker.run_beside(lambda _: asking.cancel())
        else:
            asking.start()

    def cancel(self) -> None:
        """End the answers that are under way."""
        self._is_cancelled = True
        asking = self._asking
        if asking is not None and self._left:
            self._worker.run_beside(lambda _: asking.cancel())

    def _tell(self, progress: Progress) -> None:
        self._left -= progress.is_over
        self._on_answer(answer_of(progress))
        if not self._left:
            self.deleteLater()


def _let_be(_: RouterService) -> None:
    """The service is closed on the GUI thread, after its worker."""
