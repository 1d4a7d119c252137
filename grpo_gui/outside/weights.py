"""Finds the weights of the reward functions in what a run has logged: reward = sum of weight times mean."""

from collections.abc import Iterable, Mapping

import numpy as np

from grpo_gui.outside.names import plain_name

FITS = 1e-5
MAX_ROWS = 200


class WeightFinder:
    """Feed it rows of a log; it knows the weights once enough rows agree."""

    def __init__(self) -> None:
        self.weights: dict[str, float] | None = None
        self._looked = 0
        self._rows: list[tuple[float, dict[str, float]]] = []

    def feed(self, values: Mapping[str, float]) -> None:
        """Look at the training and the held-out means of a row."""
        if self.weights is not None or self._looked >= MAX_ROWS:
            return
        self._looked += 1
        found = [equation for prefix in ("", "eval/") if (equation := _equation(values, prefix)) is not None]
        if found:
            self._rows += found
            self.weights = fit(self._rows)


def _equation(values: Mapping[str, float], prefix: str) -> tuple[float, dict[str, float]] | None:
    """The mean reward, and the mean of each function."""
    named = {plain_name(raw): value for raw, value in values.items()}
    start = f"{prefix}rewards/"
    means = {
        name[len(start) : -len("/mean")]: value
        for name, value in named.items()
        if name.startswith(start) and name.endswith("/mean")
    }
    total = named.get(f"{prefix}reward")
    return None if total is None or not means else (total, means)


def fit(rows: Iterable[tuple[float, Mapping[str, float]]]) -> dict[str, float] | None:
    """The weights that explain every row; None while the rows do not tell them, or contradict each other.

    A function that has abstained somewhere is not a mean over all completions, so that such rows fit badly.
    """
    usable = [(total, means) for total, means in rows if np.isfinite([total, *means.values()]).all()]
    names = sorted({name for _, means in usable for name in means})
    usable = [(total, means) for total, means in usable if len(means) == len(names)]
    if not usable:
        return None
    means_RF = np.array([[means[name] for name in names] for _, means in usable])
    totals_R = np.array([total for total, _ in usable])
    size = FITS * max(1.0, float(np.abs(totals_R).max()))
    if float(np.abs(means_RF.sum(axis=1) - totals_R).max()) < size:
        return dict.fromkeys(names, 1.0)
    if len(usable) <= len(names):
        return None  # as many unknowns as rows explain anything
    weights_F, _, rank, _ = np.linalg.lstsq(means_RF, totals_R, rcond=1e-6)
    if rank < len(names) or float(np.abs(means_RF @ weights_F - totals_R).max()) > size:
        return None
    return {name: float(round(weight, 4)) for name, weight in zip(names, weights_F, strict=True)}
