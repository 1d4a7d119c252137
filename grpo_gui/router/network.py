"""The candidate network: query features to logits over models, trained by the project's own GRPO loss."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from grpo_gui.grpo.config import LossConfig
from grpo_gui.grpo.loss import grpo_loss
from grpo_gui.grpo.metric_sums import LossResult, MetricSums
from grpo_gui.router.features import Float32Array
from grpo_gui.router.network_config import NetworkConfig
from grpo_gui.router.scorer import NetworkScorer

MASKED = -1e9  # the logit of a model that could not have been asked


@dataclass(frozen=True, slots=True)
class NetworkBatch:
    """P groups of up to G rated answers; columns of models (M) are those of the network.

    `base` (P, M) are the table's weights (-1e9 where a model was no candidate), `reference` (P, M) what the reference
    network adds to them. `asked` (P, G) are columns; where there is no rating `mask` is 0 and so is `advantages`.
    """

    features: Float32Array
    base: Float32Array
    reference: Float32Array
    asked: Float32Array
    mask: Float32Array
    advantages: Float32Array


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What one training step measured: pooled metrics, and per answer (P, G) the values of the last inner step."""

    metrics: MetricSums
    grad_norm: float  # mean over the inner steps
    last: LossResult
    old_logps: Float32Array
    logps: Float32Array
    ref_logps: Float32Array
    entropy: Float32Array


class CandidateNetwork:
    """The network with its optimizer; a completion is one token, the choice of a model."""

    def __init__(
        self, config: NetworkConfig, inputs: int, models: Sequence[str], *, device: str = "cpu", seed: int = 0
    ) -> None:
        self.config = config
        self.device = torch.device(device)
        self.models = list(models)
        self._net = self._made(inputs, seed)
        self._optimizer = self._made_optimizer()

    @property
    def parameters(self) -> int:
        """How many numbers are trained."""
        return sum(parameter.numel() for parameter in self._net.parameters())

    def know(self, models: Sequence[str]) -> None:
        """Add outputs for models that are new; they begin with logit 0."""
        new = [model for model in models if model not in self.models]
        if not new:
            return
        states = {name: self._optimizer.state.get(parameter, {}) for name, parameter in self._net.named_parameters()}
        last = self._linear_layers()[-1]
        self._net[-1] = self._output_layer(last.in_features, len(self.models) + len(new), last)
        self._optimizer = self._made_optimizer()
        for name, parameter in self._net.named_parameters():
            if states[name]:
                self._optimizer.state[parameter] = _padded(states[name], parameter)
        self.models += new

    def rename(self, old: str, new: str) -> None:
        """A model goes on under another name."""
        self.models = [new if model == old else model for model in self.models]

    def train(self, batch: NetworkBatch, gate: float) -> BatchResult:
        """Make `num_iterations` optimizer steps on one batch; the old log-probs are those before the first."""
        base, reference, features, asked, mask, advantages = (
            torch.from_numpy(values).to(self.device)
            for values in (batch.base, batch.reference, batch.features, batch.asked, batch.mask, batch.advantages)
        )
        chosen_PGM = nn.functional.one_hot(asked.long(), len(self.models)).to(torch.float32)
        mask_B, advantages_B = mask.reshape(-1, 1) > 0, advantages.reshape(-1, 1)
        ref_logps, _ = _log_probs(base + reference, chosen_PGM)
        with torch.no_grad():
            old_logps, _ = _log_probs(base + gate * self._net(features), chosen_PGM)
        config = LossConfig(epsilon=self.config.epsilon, beta=self.config.beta)
        metrics, norms = MetricSums(), []
        for _ in range(self.config.num_iterations):
            logps, entropy = _log_probs(base + gate * self._net(features), chosen_PGM)
            result = grpo_loss(logps, old_logps, ref_logps, mask_B, advantages_B, config, entropy=entropy.detach())
            self._optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward(result.loss)
            norms.append(self._gradient_norm())
            self._optimizer.step()
            metrics.add(result)
        values = (
            tensor.detach().cpu().numpy().reshape(batch.asked.shape)
            for tensor in (old_logps, logps, ref_logps, entropy)
        )
        return BatchResult(metrics, float(torch.stack(norms).mean()), result, *values)

    def _gradient_norm(self) -> torch.Tensor:
        gradients = [parameter.grad for parameter in self._net.parameters() if parameter.grad is not None]
        norms = torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients])
        norm: torch.Tensor = torch.linalg.vector_norm(norms)
        return norm

    def scorer(self, gate: float) -> NetworkScorer:
        """A copy that decides without torch."""
        layers = [
            (layer.weight.detach().cpu().numpy().copy(), layer.bias.detach().cpu().numpy().copy())
            for layer in self._linear_layers()
        ]
        return NetworkScorer(self.config.features, self.models, gate, layers)

    def digest(self) -> str:
        """The sha256 of all weights: equal only for bit-equal networks."""
        digest = hashlib.sha256()
        for weight, bias in self.scorer(1.0).layers:
            digest.update(np.ascontiguousarray(weight).tobytes())
            digest.update(np.ascontiguousarray(bias).tobytes())
        return digest.hexdigest()

    def _made(self, inputs: int, seed: int) -> nn.Sequential:
        hidden = self.config.hidden
        if not hidden:
            return nn.Sequential(self._output_layer(inputs, len(self.models)))
        generator = torch.Generator().manual_seed(seed)  # on the CPU, so that every device begins alike
        first = nn.Linear(inputs, hidden)
        with torch.no_grad():
            first.weight.copy_((torch.rand(hidden, inputs, generator=generator) * 2 - 1) * inputs**-0.5)
            first.bias.zero_()
        return nn.Sequential(first.to(self.device), nn.ReLU(), self._output_layer(hidden, len(self.models)))

    def _output_layer(self, inputs: int, outputs: int, old: nn.Linear | None = None) -> nn.Linear:
        """A layer that adds nothing to the table, but for the rows that it takes from `old`."""
        layer = nn.Linear(inputs, outputs).to(self.device)
        with torch.no_grad():
            layer.weight.zero_()
            layer.bias.zero_()
            if old is not None:
                layer.weight[: old.out_features] = old.weight
                layer.bias[: old.out_features] = old.bias
        return layer

    def _linear_layers(self) -> list[nn.Linear]:
        return [layer for layer in self._net if isinstance(layer, nn.Linear)]

    def _made_optimizer(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self._net.parameters(), lr=self.config.learning_rate, weight_decay=0.0)


def _log_probs(logits_PM: Tensor, chosen_PGM: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probs (P * G, 1) of the chosen models, and the entropy (P * G, 1).

    A product with one-hot rows instead of `gather`, whose gradient is not deterministic on CUDA.
    """
    log_probs_PM = logits_PM.log_softmax(1)
    logps_PG = (chosen_PGM * log_probs_PM.unsqueeze(1)).sum(2)
    entropy_P = -(log_probs_PM.exp() * log_probs_PM).sum(1, keepdim=True)
    return logps_PG.reshape(-1, 1), entropy_P.expand_as(logps_PG).reshape(-1, 1)


def _padded(state: dict[str, Tensor], parameter: Tensor) -> dict[str, Tensor]:
    """The optimizer's moments of a parameter that grew by rows."""
    padded = {}
    for name, value in state.items():
        if value.dim() == 0:
            padded[name] = value
        else:
            padded[name] = torch.zeros_like(parameter)
            padded[name][: value.shape[0]] = value
    return padded
