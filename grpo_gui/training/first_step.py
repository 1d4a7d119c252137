"""What is measured once, with the first step of a run: does the reward pay for nonsense, and was the forecast right."""

import numpy as np

from grpo_gui.errors import TrainingError
from grpo_gui.tasks.bench import fuzz_texts
from grpo_gui.tasks.problem import Problem
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.memory_forecast import forecast
from grpo_gui.training.rollout import Rollout
from grpo_gui.training.scoring import Scorer

PROBLEMS = 4  # of the first step, that nonsense is tried on
_KINDS = {
    "empty": "empty",
    "prompt echo": "prompt_echo",
    "repeated token": "repeated_token",
    "list of all answers": "all_answers",
    "very long": "very_long",
}


def first_step_metrics(config: TrainConfig, scorer: Scorer, rollout: Rollout) -> dict[str, float]:
    """Return the `fuzz/` scores beside those of the real completions, and the memory that was forecast.

    Functions of the user are not called with nonsense behind their back; the bench in the form does that.
    """
    metrics: dict[str, float] = {}
    needed = forecast(config)
    if needed is not None:
        metrics["system/memory_forecast_gb"] = needed.total / 1e9
    if all(spec.kind != "python" for spec in config.rewards):
        metrics |= _fuzz(scorer, rollout)
    return metrics


def _fuzz(scorer: Scorer, rollout: Rollout) -> dict[str, float]:
    real = rollout.totals[~np.isnan(rollout.totals)]
    problems = rollout.drawn.problems
    if not real.size:
        return {}
    answers = [problem.answer for problem in problems if problem.answer is not None]
    rows = [(problem, kind, text) for problem in problems[:PROBLEMS] for kind, text in _texts(problem, answers)]
    try:
        scores = scorer.total(
            scorer.score(
                [problem for problem, _, _ in rows],
                [text for _, _, text in rows],
                [list(range(len(text.split()))) for _, _, text in rows],  # a word stands for a token
            )
        )
    except TrainingError:  # a reward that cannot read nonsense does not pay for it
        return {}
    metrics = {"fuzz/real_median": float(np.median(real)), "fuzz/real_lowest": float(real.min())}
    for name in _KINDS.values():
        values = np.array([score for score, (_, kind, _) in zip(scores, rows, strict=True) if kind == name])
        if not np.isnan(values).all():
            metrics[f"fuzz/{name}"] = float(np.nanmean(values))
    return metrics


def _texts(problem: Problem, answers: list[str]) -> list[tuple[str, str]]:
    """The nonsense for a problem; its own answer first among all, since some rewards look at the last one."""
    listed = [problem.answer or "yes", *answers]
    return [(_KINDS[label], text) for label, text in fuzz_texts(problem, listed) if label in _KINDS]
