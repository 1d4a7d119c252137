"""What the Router view shows, out of the router at work. Runs on the router's worker thread."""

import math

from grpo_gui.router.shadows import regret_curves
from grpo_gui.router_events import RouterModelAdded
from grpo_gui.routing.asking import Progress
from grpo_gui.routing.candidate import CandidateState
from grpo_gui.routing.model_list import ENDPOINT, ModelHealth
from grpo_gui.routing.service import RouterService
from grpo_gui.ui.router_engine import AnswerState, Candidate, RouterModel, RouterOverview


def overview_of(service: RouterService) -> RouterOverview:
    """All that the view shows beside the query at hand."""
    policy, candidate = service.policy, service.candidate
    health = service.models.all()
    regret = regret_curves(policy)
    with policy.lock:
        state = policy.state
        asked = tuple(each.model.name for each in health)
        shown = tuple(dict.fromkeys((*asked, *state.arms.models)))
        return RouterOverview(
            models=tuple(map(_model, health)),
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
            weights=policy.weight_map(shown or None),
            regret=regret,
            drift=policy.drift_level(),
            alarms=tuple(state.alarms),
            candidate=_candidate(candidate),
            run_id=candidate.run_id,
        )


def answer_of(progress: Progress) -> AnswerState:
    """How far one model is, as the view takes it."""
    return AnswerState(
        progress.decision,
        progress.model,
        progress.state,
        progress.text,
        progress.tokens,
        progress.seconds,
        progress.sentence,
    )


def _model(health: ModelHealth) -> RouterModel:
    model = health.model
    return RouterModel(model.name, model.kind, _where(model), health.state, health.sentence, model.cost_per_1000_tokens)


def _where(model: RouterModelAdded) -> str:
    return f"{model.endpoint_url} · {model.location}" if model.kind == ENDPOINT else model.location


def _candidate(state: CandidateState) -> Candidate:
    verdict = state.verdict
    if verdict is None or math.isnan(verdict.gain.mean):
        return Candidate(state.steps, None, None, None, False, None, state.sentence, state.features)
    gain, needed = verdict.gain, verdict.ratings_needed
    numbers = (state.steps, gain.mean, gain.low, gain.high)
    return Candidate(*numbers, verdict.is_better, needed, state.sentence, state.features)
