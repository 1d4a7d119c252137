"""What is kept in memory of the answers given, so that they can be rated with their cost and time."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from grpo_gui.errors import BadInputError
from grpo_gui.router_events import RouterAnswered, RouterEvent, RouterModelRenamed


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """Cost in the user's unit, seconds, and whether there is something to rate."""

    cost: float
    latency_s: float
    is_ratable: bool


class GivenAnswers:
    """By decision and model; may be used from any thread."""

    def __init__(self, log: Iterable[RouterEvent]) -> None:
        """Take what a log holds."""
        self._lock = threading.Lock()
        self._by_decision: dict[int, dict[str, GivenAnswer]] = {}
        for event in log:
            if isinstance(event, RouterAnswered):
                self.add(event)
            elif isinstance(event, RouterModelRenamed):
                self.rename(event.old, event.new)

    def add(self, event: RouterAnswered) -> None:
        """Take an answer; one that failed can be rated when it has text."""
        given = GivenAnswer(event.cost, event.latency_s, not event.error or bool(event.text.strip()))
        with self._lock:
            self._by_decision.setdefault(event.decision, {})[event.model] = given

    def rename(self, old: str, new: str) -> None:
        """A model goes on under another name."""
        with self._lock:
            for answers in self._by_decision.values():
                if old in answers:
                    answers[new] = answers.pop(old)

    def of(self, decision: int, model: str) -> GivenAnswer:
        """The answer of a model.

        Raises:
            BadInputError: there is none to rate.
        """
        with self._lock:
            given = self._by_decision.get(decision, {}).get(model)
        if given is None or not given.is_ratable:
            raise BadInputError(f"{model} gave no answer in decision {decision} that could be rated.")
        return given
