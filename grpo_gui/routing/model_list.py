"""The models that can be asked and how they are: ready, being tried, or dead with a sentence."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from grpo_gui.errors import GrpoGuiError
from grpo_gui.router_events import RouterModelAdded
from grpo_gui.routing.answers import Answerer
from grpo_gui.routing.builtin_models import BUILTIN, EXPERT_PREFIX, EXPERTS, LocalModel, Shelf
from grpo_gui.routing.endpoints import Endpoint

READY, LOADING, DEAD = "ready", "loading", "dead"
BUILT_IN, SNAPSHOT, ENDPOINT = "built-in", "snapshot", "endpoint"
TRY_AGAIN_S = 20.0  # dead endpoints
LONGEST_PAUSE = 64  # rounds of TRY_AGAIN_S for one that looks alive each time and then does not answer
SHIPPED = (
    RouterModelAdded("base", BUILT_IN, BUILTIN, "", "", 0.0),
    *(RouterModelAdded(f"{name} expert", BUILT_IN, EXPERT_PREFIX + name, "", "", 0.0) for name in EXPERTS),
)


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """A model and how it is; `sentence` says why it is dead. `failures` counts answers that failed in a row."""

    model: RouterModelAdded
    state: str  # ready, loading, dead
    sentence: str = ""
    failures: int = 0


class ModelList:
    """Keeps who is alive; may be used from any thread. `changed` is called from any thread."""

    def __init__(self, shelf: Shelf, changed: Callable[[], None]) -> None:
        self._shelf, self._changed = shelf, changed
        self._lock = threading.Lock()
        self._health: dict[str, ModelHealth] = {}
        self._closing = threading.Event()
        self._watch = threading.Thread(target=self._try_the_dead, name="router endpoints", daemon=True)

    def start(self) -> None:
        """Begin to try dead endpoints again from time to time."""
        self._watch.start()

    def close(self, timeout_s: float) -> None:
        """Stop trying."""
        self._closing.set()
        if self._watch.is_alive():
            self._watch.join(timeout_s)

    def update(self, models: Mapping[str, RouterModelAdded]) -> None:
        """Take the models that there are now; new and changed ones are tried in threads of their own."""
        with self._lock:
            before = self._health
            self._health = {
                name: before[name] if name in before and before[name].model == model else ModelHealth(model, LOADING)
                for name, model in models.items()
            }
            untried = [name for name, health in self._health.items() if health is not before.get(name)]
        for name in untried:
            self.check(name)

    def all(self) -> tuple[ModelHealth, ...]:
        """Every model."""
        with self._lock:
            return tuple(self._health.values())

    def living(self) -> dict[str, Answerer]:
        """Those that can be asked; one that is being tried counts as alive."""
        return {health.model.name: self._answerer(health.model) for health in self.all() if health.state != DEAD}

    def check(self, name: str) -> None:
        """Try a model in a thread of its own."""
        with self._lock:
            if name not in self._health:
                return
            health = self._health[name] = replace(self._health[name], state=LOADING, sentence="")
        threading.Thread(target=self._check, args=(health.model,), name=f"trying {name}", daemon=True).start()

    def mark(self, model: str, sentence: str) -> None:
        """Note that a model answered (`sentence` empty), or did not, is dead, and why."""
        with self._lock:
            failures = self._health[model].failures + 1 if sentence and model in self._health else 0
        self._note(model, sentence, failures)

    def _note(self, model: str, sentence: str, failures: int | None = None) -> None:
        with self._lock:
            before = self._health.get(model)
            if before is None:
                return
            after = replace(
                before,
                state=DEAD if sentence else READY,
                sentence=sentence,
                failures=before.failures if failures is None else failures,
            )
            self._health[model] = after
        if after != before:
            self._changed()

    def _check(self, model: RouterModelAdded) -> None:
        sentence = ""
        try:
            self._answerer(model).check()
        except GrpoGuiError as error:
            sentence = str(error)
        with self._lock:
            now = self._health.get(model.name)
        if now is not None and now.model == model:
            self._note(model.name, sentence)

    def _try_the_dead(self) -> None:
        number = 0
        while not self._closing.wait(TRY_AGAIN_S):
            number += 1
            for health in self.all():
                is_due = health.state == DEAD and health.model.kind == ENDPOINT and is_tried(number, health.failures)
                if is_due and not self._closing.is_set():
                    self._check(health.model)

    def _answerer(self, model: RouterModelAdded) -> Answerer:
        if model.kind == ENDPOINT:
            return Endpoint(model.name, model.endpoint_url, model.location, model.key_source)
        return LocalModel(model.name, model.location, self._shelf)


def is_tried(number: int, failures: int) -> bool:
    """Whether round `number` tries an endpoint again: each further failed answer doubles the pause."""
    return number % min(1 << max(failures - 1, 0), LONGEST_PAUSE) == 0
