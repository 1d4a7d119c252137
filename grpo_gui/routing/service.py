"""The router at work, without a window: it asks, keeps answers and ratings in the log, and learns."""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grpo_gui.errors import BadInputError, GrpoGuiError
from grpo_gui.router.config import RouterConfig
from grpo_gui.router.explanation import Explanation
from grpo_gui.router.policy import RouterPolicy
from grpo_gui.router.replay import replay
from grpo_gui.router.rewards import Outcome, TradeOff, checked_number
from grpo_gui.router.state import LEARN, SHADOW, Learned, config_to_json
from grpo_gui.router_events import (
    RouterAnswered,
    RouterDecided,
    RouterEvent,
    RouterModelAdded,
    RouterModelRemoved,
    RouterStarted,
)
from grpo_gui.routing.answers import Answerer
from grpo_gui.routing.asking import DONE, FAILED, Asking, Progress, Tell
from grpo_gui.routing.builtin_models import Shelf
from grpo_gui.routing.candidate import CandidateState
from grpo_gui.routing.endpoints import checked_url, import_client
from grpo_gui.routing.given_answers import GivenAnswers
from grpo_gui.routing.keys import IN_KEYRING, forget_key, keep_key, variable_source
from grpo_gui.routing.model_list import ENDPOINT, SHIPPED, SNAPSHOT, ModelList
from grpo_gui.routing.network_trainer import NetworkTrainer
from grpo_gui.routing.query_class import context_of
from grpo_gui.routing.run_book import StoreRunBook
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.writer import StoreWriter

LONGEST_TIME_LIMIT_S = 3600.0
SEEDS_A_DECISION = 100_000  # so that no two answers are sampled with the same random numbers
CLOSE_TIMEOUT_S = 5.0
STARS = (1, 2, 3, 4, 5)


def quality_of(stars: int) -> float:
    """1 is quality 0, 5 is quality 1.

    Raises:
        BadInputError: it is none of 1 to 5.
    """
    if stars not in STARS:
        raise BadInputError(f"The rating is {stars!r}; rate from {STARS[0]} to {STARS[-1]}.")
    return (stars - STARS[0]) / (STARS[-1] - STARS[0])


class RouterService:
    """Every method may be called from any thread; most wait for the store. `changed` is called from any thread.

    Opening reads the log, so everything learned before is there again. A new log begins with the first change.
    """

    def __init__(
        self,
        database: Path,
        writer: StoreWriter,
        *,
        changed: Callable[[], None] = lambda: None,
        threads: Callable[[], int] = lambda: 1,
        device: str = "cpu",
        seed: int = 0,
    ) -> None:
        """Read the log.

        Raises:
            StoreError: the database cannot be read.
            BadInputError: the log's entries do not fit each other.
        """
        self._writer, self._tell_changed, self._is_closed = writer, changed, False
        with StoreReader(database) as reader:
            log = [entry.event for entry in reader.router_log()]
        self._first = None if log else RouterStarted(config_to_json(RouterConfig()), seed)
        self._policy = replay(log or [RouterStarted(config_to_json(RouterConfig()), seed)], record=self._record).policy
        self._answers = GivenAnswers(log)
        self._lock = threading.Lock()
        self._asking: list[Asking] = []
        self._shelf = Shelf(threads, device)
        self.models = ModelList(self._shelf, self._changed)
        self.models.update(self._policy.state.models)
        book = StoreRunBook(database, writer)
        network_device = device if device.startswith("cuda") else "cpu"  # it is small: elsewhere it gains nothing
        self._trainer = NetworkTrainer(self._policy, log, book, self._changed, device=network_device, threads=threads)

    def start(self) -> None:
        """Begin to learn in the background and to look after endpoints."""
        self.models.start()
        self._trainer.start()

    def close(self) -> bool:
        """Break off what is under way and end the threads; True when all ended in time.

        A thread that waits for a server may outlive this for seconds; `changed` is not called any more.
        """
        self._is_closed = True
        for asking in self._under_way():
            asking.cancel()
        self.models.close(CLOSE_TIMEOUT_S)
        self._shelf.forget()
        return self._trainer.close(CLOSE_TIMEOUT_S)

    @property
    def policy(self) -> RouterPolicy:
        """The policy, to explain and to show; change it through this service only."""
        return self._policy

    @property
    def candidate(self) -> CandidateState:
        """Where the network stands."""
        return self._trainer.state

    def wait_idle(self, timeout_s: float) -> bool:
        """Wait until the network has learned from everything; False when it has not."""
        return self._trainer.wait_idle(timeout_s)

    # -- asking and rating ------------------------------------------------------------------------

    def explain(self, query: str) -> Explanation:
        """Class, scores, probabilities and propensities among the living models, without asking anybody.

        Raises:
            BadInputError: the query is empty, or no model is alive.
        """
        return self._explain(query, self._living())

    def ask(
        self, query: str, tell: Tell, *, count: int | None = None, time_limit_s: float = 60.0
    ) -> tuple[RouterDecided, Explanation, Asking]:
        """Choose `count` of the living models (None: the group size); `start` the result to ask them.

        Every answer is kept when it ends, then `tell` is called, from the answers' threads.

        Raises:
            BadInputError: the query is empty, no model is alive, or a number is out of its range.
            StoreError: the decision cannot be kept.
        """
        checked_number("The time limit", time_limit_s, LONGEST_TIME_LIMIT_S)
        answerers = self._living()
        explanation = self._explain(query, answerers)
        context, query_class = context_of(query)
        decided = self._policy.propose(context, list(answerers), count, query_class=query_class)
        costs = {name: model.cost_per_1000_tokens for name, model in self._policy.state.models.items()}

        def keep_and_tell(progress: Progress) -> None:
            tell(self._keep(progress, costs.get(progress.model, 0.0)) if progress.is_over else progress)

        asking = Asking(decided, answerers, time_limit_s, decided.decision * SEEDS_A_DECISION, keep_and_tell)
        with self._lock:
            self._asking.append(asking)
        self._changed()
        return decided, explanation, asking

    def rate(self, decision: int, stars: Mapping[str, int]) -> Learned | None:
        """Learn from 1 to 5 for answers of a decision; cost and latency are those of the answers.

        Raises:
            BadInputError: a rating is none of 1 to 5, or of a model that gave no answer or is rated already.
            StoreError: the rating cannot be kept.
        """
        outcomes = {}
        for model, given in stars.items():
            quality = quality_of(given)
            answer = self._answers.of(decision, model)
            outcomes[model] = Outcome(quality, answer.cost, answer.latency_s)
        learned = self._policy.rate(decision, outcomes)
        self._moved()
        return learned

    # -- steering ---------------------------------------------------------------------------------

    def set_trade_off(self, trade_off: TradeOff) -> None:
        """Weigh cost and time from now on, and learn everything again under this weighing."""
        self._policy.set_trade_off(trade_off)
        self._moved()

    def set_mode(self, mode: str) -> None:
        """Switch between locked, shadow and learn."""
        self._policy.set_mode(mode)
        self._moved()

    def promote(self) -> None:
        """Let the candidate network decide from now on.

        Raises:
            BadInputError: it has not learned anything, is not better for certain, or the mode is not `learn`.
        """
        self._trainer.promote()
        self._changed()

    def roll_back(self) -> None:
        """Let the policy before the newest promotion decide again; in `learn` go to `shadow`, so that it stays there.

        Raises:
            BadInputError: no network is active.
        """
        self._policy.roll_back()
        if self._policy.state.mode == LEARN:
            self._policy.set_mode(SHADOW)
        self._moved()

    def set_features(self, features: str) -> None:
        """Let a new candidate network begin: "hashed n-grams", or the folder of a sentence embedding model.

        Raises:
            MissingExtraError, ModelError: the embedding model cannot be used.
        """
        self._trainer.restart(features)
        self._changed()

    # -- models -----------------------------------------------------------------------------------

    def begin(self) -> None:
        """Add the built-in model and the experts that are shipped, where they are missing."""
        for model in SHIPPED:
            if model.name not in self._policy.state.models:
                self._policy.record(model)
        self._models_changed()

    def add_folder(self, name: str, folder: str) -> None:
        """Add a snapshot or another model folder, or a GGUF file.

        Raises:
            BadInputError: the name is empty or taken, or there is no such folder.
        """
        path = Path(folder).expanduser()
        if not path.exists():
            raise BadInputError(f"The folder {path} does not exist; choose one with a model.")
        self._add(RouterModelAdded(name.strip(), SNAPSHOT, str(path.resolve()), "", "", 0.0))

    def add_endpoint(
        self,
        name: str,
        url: str,
        model: str,
        *,
        key: str = "",
        key_variable: str = "",
        cost_per_1000_tokens: float = 0.0,
    ) -> None:
        """Add a model of an OpenAI-compatible endpoint; the key goes to the keyring, or is in a variable.

        Raises:
            BadInputError: the name is empty or taken, or an entry cannot be used.
            MissingExtraError: the router extra is not installed.
            GrpoGuiError: the system has no keyring.
        """
        import_client()
        url = checked_url(url)
        if not model.strip():
            raise BadInputError("Name the model as the endpoint knows it, for example llama3.2.")
        cost = checked_number("The cost of 1000 tokens", cost_per_1000_tokens, math.inf)
        self._check_new(name)
        source = variable_source(key_variable.strip()) if key_variable else keep_key(url, key) if key else ""
        self._add(RouterModelAdded(name.strip(), ENDPOINT, model.strip(), url, source, cost))

    def remove_model(self, name: str) -> None:
        """Do not ask a model any more; its history stays, also if it is added again. A key that no model needs goes.

        Raises:
            BadInputError: there is no such model.
        """
        model = self._policy.state.models.get(name)
        if model is None:
            raise BadInputError(f"There is no model named {name!r} to remove.")
        self._policy.record(RouterModelRemoved(name))
        left = ((each.endpoint_url, each.key_source) for each in self._policy.state.models.values())
        if model.key_source == IN_KEYRING and (model.endpoint_url, IN_KEYRING) not in left:
            forget_key(model.endpoint_url)
        self._models_changed()

    def rename_model(self, old: str, new: str) -> None:
        """Give a model another name, with its history.

        Raises:
            BadInputError: there is no such model, the name is taken, or answers are under way.
        """
        if self._under_way():
            raise BadInputError("Answers are under way; rename the model when they are there.")
        self._policy.rename_model(old, new.strip())
        self._answers.rename(old, new.strip())
        self._models_changed()

    # -- inside -----------------------------------------------------------------------------------

    def _changed(self) -> None:
        if not self._is_closed:
            self._tell_changed()

    def _record(self, events: Sequence[RouterEvent]) -> None:
        first = (self._first,) if self._first is not None else ()
        self._writer.append_router((*first, *events))
        self._first = None

    def _keep(self, progress: Progress, cost_per_1000_tokens: float) -> Progress:
        cost = cost_per_1000_tokens * progress.tokens / 1000
        text, tokens, seconds = progress.text, progress.tokens, progress.seconds
        answered = RouterAnswered(progress.decision, progress.model, text, tokens, cost, seconds, progress.sentence)
        if progress.state == DONE or progress.is_dead:
            self.models.mark(progress.model, progress.sentence)
        try:
            self._policy.record(answered)
        except GrpoGuiError as error:  # the database: the answer is shown, but cannot be rated
            return replace(progress, state=FAILED, sentence=str(error))
        self._answers.add(answered)
        return progress

    def _living(self) -> dict[str, Answerer]:
        living = self.models.living()
        if not living:
            what = "No model is alive; see why beside their names." if self.models.all() else "There are no models yet;"
            raise BadInputError(f"{what} Add one, then ask again.")
        return living

    def _explain(self, query: str, answerers: Mapping[str, Answerer]) -> Explanation:
        if not query.strip():
            raise BadInputError("The query is empty; write what the models shall answer.")
        context, query_class = context_of(query)
        return self._policy.explain(context, list(answerers), query_class)

    def _under_way(self) -> list[Asking]:
        with self._lock:
            self._asking = [asking for asking in self._asking if not asking.is_over]
            return list(self._asking)

    def _check_new(self, name: str) -> None:
        if not name.strip():
            raise BadInputError("The model needs a name, under which the router knows it.")
        if name.strip() in self._policy.state.models:
            raise BadInputError(f"There is a model named {name.strip()!r} already; choose another name.")

    def _add(self, model: RouterModelAdded) -> None:
        self._check_new(model.name)
        self._policy.record(model)
        self._models_changed()

    def _models_changed(self) -> None:
        self.models.update(self._policy.state.models)
        self._changed()

    def _moved(self) -> None:
        self._trainer.wake()
        self._changed()
