"""Measures of a step that tell whether the loop is right: what the diagnosis calls invariants."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from grpo_gui.language.tokenizer import Tokenizer
from grpo_gui.training.rollout import Rollout
from grpo_gui.training.update import Update

PROBED = 1024  # entries of each parameter that are watched


class WeightProbe:
    """Measures how much a step changes the weights, on the first entries of each parameter.

    A copy of all weights would cost as much memory as the model.
    """

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        """Look at the weights as they stand."""
        self._parts = [parameter.detach().reshape(-1)[:PROBED] for parameter in parameters if parameter.requires_grad]
        self._before = self._joined().clone()

    def relative_change(self) -> Tensor:
        """Length of the change since this probe was made, against the length of the weights; a scalar."""
        change: Tensor = torch.linalg.vector_norm(self._joined() - self._before)
        whole: Tensor = torch.linalg.vector_norm(self._before)
        return change / whole.clamp_min(1e-12)

    def _joined(self) -> Tensor:
        return torch.cat([part.float() for part in self._parts])


def step_checks(rollout: Rollout, first: Update, tokenizer: Tokenizer, probe: WeightProbe) -> dict[str, float]:
    """Measure a step by its first inner update; one transfer from the device.

    `check/first_ratio` is the largest |ratio - 1|; `check/mask_tokens` the tokens trained on minus those of the
    completions that are; `check/end_in_mask` the share of ended completions whose end token is trained on.
    """
    mask = rollout.mask
    lengths = rollout.drawn.lengths
    trained = mask.any(dim=1)
    last = rollout.drawn.ids.gather(1, (lengths - 1).clamp_min(0).unsqueeze(1)).squeeze(1)
    ends = torch.isin(last, torch.tensor(sorted(tokenizer.eos_ids), device=last.device))
    ended = trained & ~rollout.drawn.truncated
    in_mask = mask.gather(1, (lengths - 1).clamp_min(0).unsqueeze(1)).squeeze(1)
    values = torch.stack(
        (
            torch.where(mask, (first.ratio - 1.0).abs(), 0.0).max().double(),
            mask.sum().double() - torch.where(trained, lengths, 0).sum(),
            (ends & in_mask & ended).sum() / ended.sum().clamp_min(1),
            ended.any().double(),
            probe.relative_change().double(),
        )
    )
    ratio, mask_tokens, end_in_mask, any_ended, change = values.tolist()
    checks = {"check/first_ratio": ratio, "check/mask_tokens": mask_tokens, "check/weights_change": change}
    if any_ended:
        checks["check/end_in_mask"] = end_in_mask
    return checks
