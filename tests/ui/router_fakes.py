"""A router engine without models: the real policy and log in memory, answers that the test lets the models give."""

from dataclasses import replace

from grpo_gui.errors import GrpoGuiError
from grpo_gui.router.config import RouterConfig
from grpo_gui.router.context import context_from_text
from grpo_gui.router.policy import RouterPolicy
from grpo_gui.router.rewards import Outcome
from grpo_gui.router.shadows import regret_curves
from grpo_gui.router_events import RouterAnswered
from grpo_gui.store.records_router import DecisionRecord
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.router_engine import (
    CANCELLED,
    DEAD,
    DONE,
    FAILED,
    READY,
    STREAMING,
    AnswerState,
    Asked,
    Candidate,
    RouterModel,
    RouterOverview,
)

EXPERTS = ("base", "expert-compare", "expert-sort")
NO_CANDIDATE = Candidate(0, None, None, None, False, None, "It begins to learn with the first ratings.")


def model(name, **changes):
    return replace(RouterModel(name, "snapshot", f"models/{name}", READY, "", 0.0), **changes)


class FakeRouterEngine:
    """Calls back at once."""

    def __init__(self, *names, group_size=4, seed=0):
        self.policy = RouterPolicy(RouterConfig(group_size=group_size), seed=seed)
        self.models = [model(name) for name in names]
        self.candidate = NO_CANDIDATE
        self.calls = []
        self.records = []
        self.refusal = ""  # a sentence with which the next order fails
        self.page = 50
        self.run_id = None
        self._watchers = []
        self._on_answer = None
        self._under_way = {}

    # --- what the test does

    def change(self):
        for watcher in self._watchers:
            watcher(self.overview)

    def say(self, name, text, tokens=1):
        self._under_way[name] = text
        self._tell(name, STREAMING, text, tokens)

    def finish(self, name, text=None, tokens=3, seconds=0.5):
        text = self._under_way.get(name, "") if text is None else text
        self._under_way.pop(name, None)
        self._keep(name, text, tokens, seconds, "")
        self._tell(name, DONE, text, tokens, seconds)

    def fail(self, name, sentence):
        self._under_way.pop(name, None)
        self._keep(name, "", 0, 0.1, sentence)
        self._tell(name, FAILED, "", 0, 0.1, sentence)

    def tell_cancelled(self, name, sentence):
        text = self._under_way.pop(name)
        self._keep(name, text, 1, 0.2, sentence)
        self._tell(name, CANCELLED, text, sentence=sentence)

    def finish_all(self, text="an answer"):
        for name in list(self._under_way):
            self.finish(name, f"{text} of {len(name)}")

    def kill(self, name, sentence):
        self.models = [replace(m, state=DEAD, sentence=sentence) if m.name == name else m for m in self.models]
        self.change()

    @property
    def asked(self):
        return self.records[-1].decided.asked

    # --- the protocol

    @property
    def overview(self):
        state, names = self.policy.state, [m.name for m in self.models]
        known = tuple(dict.fromkeys([*names, *state.arms.models]))
        return RouterOverview(
            models=tuple(self.models),
            mode=state.mode,
            policy=state.policy_name,
            can_roll_back=bool(state.scorers),
            group_size=state.config.group_size,
            probability_floor=state.config.probability_floor,
            logit_cap=state.config.logit_cap,
            decisions=len(state.decisions),
            ratings=sum(len(group.ratings) for group in state.groups),
            waiting=sum(len(group.ratings) for group in state.waiting),
            trade_off=state.trade_off,
            weights=self.policy.weight_map(known) if known else self.policy.weight_map(),
            regret=regret_curves(self.policy),
            drift=self.policy.drift_level(),
            alarms=tuple(state.alarms),
            candidate=self.candidate,
            run_id=self.run_id,
        )

    def watch(self, changed):
        self._watchers.append(changed)
        changed(self.overview)

    def begin(self, failed):
        if not self._refused(failed):
            self.models = [model(name) for name in EXPERTS]
            self.change()

    def explain(self, query, done, failed):
        if not self._refused(failed):
            done(self.policy.explain(context_from_text(query), self._living()))

    def ask(self, query, done, on_answer, failed, *, count=None, time_limit_s=60.0):
        if self._refused(failed):
            return lambda: None
        context, living = context_from_text(query), self._living()
        explanation = self.policy.explain(context, living)
        decided = self.policy.propose(context, living, count)
        self.records.append(DecisionRecord(1_700_000_000.0 + decided.decision, decided, (), ()))
        self._on_answer = on_answer
        self._under_way = dict.fromkeys(decided.asked, "")
        done(Asked(decided, explanation))
        self.change()
        return self._cancel

    def rate(self, decision, stars, done, failed):
        self.calls.append(("rate", decision, dict(stars)))
        if self._refused(failed):
            return
        record = self.records[decision - 1]
        answers = {answer.model: answer for answer in record.answers}
        outcomes = {
            name: Outcome((value - 1) / 4, answers[name].cost, answers[name].latency_s) for name, value in stars.items()
        }
        learned = self.policy.rate(decision, outcomes)
        if learned is not None:
            self.records[decision - 1] = replace(record, ratings=(*record.ratings, learned.rated))
        done()
        self.change()

    def set_trade_off(self, trade_off, failed):
        if not self._refused(failed):
            self.policy.set_trade_off(trade_off)
            self.change()

    def set_mode(self, mode, failed):
        if not self._refused(failed):
            self.policy.set_mode(mode)
            self.change()

    def promote(self, failed):
        self.calls.append(("promote",))

    def roll_back(self, failed):
        self.calls.append(("roll back",))

    def set_features(self, features, failed):
        if not self._refused(failed):
            self.candidate = replace(self.candidate, features=features)
            self.change()

    def add_model(self, new, done, failed):
        self.calls.append(("add", new))
        if not self._refused(failed):
            self.models.append(model(new.name, kind="endpoint" if new.endpoint_url else "snapshot", where=new.location))
            done()
            self.change()

    def remove_model(self, name, failed):
        self.models = [m for m in self.models if m.name != name]
        self.change()

    def rename_model(self, old, new, failed):
        try:
            if old in self.policy.state.arms.models:
                self.policy.rename_model(old, new)
        except GrpoGuiError as error:
            failed(TaskFailure(str(error), ""))
            return
        self.models = [replace(m, name=new) if m.name == old else m for m in self.models]
        self.change()

    def retry_model(self, name):
        self.calls.append(("retry", name))

    def history(self, query, before, done, failed):
        self.calls.append(("history", query, before))
        found = [
            record
            for record in reversed(self.records)
            if query.search.lower() in record.decided.query.lower()
            and (before is None or record.decided.decision < before)
            and (query.query_class in (None, record.decided.query_class))
            and not (query.unrated and record.ratings)
        ]
        done(tuple(found[: self.page]))

    # --- inside

    def _living(self):
        return tuple(m.name for m in self.models if m.state == READY)

    def _cancel(self):
        for name, text in list(self._under_way.items()):
            self._keep(name, text, 1, 0.2, "")
            self._tell(name, CANCELLED, text)
        self._under_way = {}

    def _keep(self, name, text, tokens, seconds, sentence):
        record = self.records[-1]
        cost = next(m.cost_per_1000_tokens for m in self.models if m.name == name) * tokens / 1000
        answer = RouterAnswered(record.decided.decision, name, text, tokens, cost, seconds, sentence)
        self.records[-1] = replace(record, answers=(*record.answers, answer))

    def _tell(self, name, state, text, tokens=1, seconds=0.1, sentence=""):
        decision = self.records[-1].decided.decision
        self._on_answer(AnswerState(decision, name, state, text, tokens, seconds, sentence))

    def _refused(self, failed):
        sentence, self.refusal = self.refusal, ""
        if sentence:
            failed(TaskFailure(sentence, ""))
        return bool(sentence)
