"""Is a snapshot the model that is trained? Measured where it was written, for the diagnosis."""

from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from grpo_gui.errors import ModelError
from grpo_gui.language.policy import LanguagePolicy, Policy
from grpo_gui.snapshots.loading import load_snapshot
from grpo_gui.training.checks import PROBED, WeightProbe
from grpo_gui.training.devices import is_out_of_memory

LARGEST = 200_000_000  # weights of a model that is loaded once more; a larger one costs too much time and memory
_PROMPTS, _GROUP, _TOKENS = 2, 4, 8


class ExportChecks:
    """Compares each snapshot with the one before and with the model in training; used by the trainer's thread."""

    def __init__(self) -> None:
        self._exported: Tensor | None = None  # the probed weights of the newest export
        self._trained: WeightProbe | None = None  # the model as it was then

    def measure(self, policy: Policy, folder: Path) -> dict[str, float]:
        """Measure a snapshot that was just written.

        `snapshot/weights_change` is the length of the difference to the export before against the length of that one,
        on the first 1024 entries of each tensor; left out where nothing was trained in between.
        `snapshot/reload_error` is the largest difference of a token's log-probability once the snapshot is loaded
        again; left out for large models and for those that are loaded in another form than they are trained in.

        Raises:
            ModelError, SnapshotError: what was written cannot be loaded.
        """
        measures = {}
        try:
            exported = _probed(folder)
        except (OSError, SafetensorError) as error:
            raise ModelError(f"The weights in {folder} cannot be read ({error}).") from error
        is_trained_on = self._trained is not None and float(self._trained.relative_change()) > 0
        if self._exported is not None and is_trained_on and len(exported) == len(self._exported):
            difference = torch.linalg.vector_norm(exported - self._exported)
            measures["snapshot/weights_change"] = float(difference / torch.linalg.vector_norm(self._exported))
        self._exported, self._trained = exported, WeightProbe(policy.parameters())
        reload_error = _reload_error(policy, folder)
        return measures if reload_error is None else measures | {"snapshot/reload_error": reload_error}


def _probed(folder: Path) -> Tensor:
    """The first entries of every tensor in a model's folder."""
    parts = []
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="pt") as weights:
            for name in sorted(weights.keys()):
                shape = weights.get_slice(name).get_shape()
                width = max(1, torch.Size(shape[1:]).numel())
                part = weights.get_slice(name)[: -(-PROBED // width)] if shape else weights.get_tensor(name)
                parts.append(part.reshape(-1)[:PROBED].float())
    if not parts:
        raise ModelError(f"{folder} has no weights.")
    return torch.cat(parts)


def _reload_error(policy: Policy, folder: Path) -> float | None:
    """Largest difference of log-probabilities between the model in training and its snapshot; None: not measured."""
    # A model of transformers may come back with its adapter merged or on the faster path, which rounds otherwise.
    if not isinstance(policy, LanguagePolicy) or sum(one.numel() for one in policy.parameters()) > LARGEST:
        return None
    try:
        reloaded = load_snapshot(folder, policy.device)
        return _difference(policy, reloaded) if isinstance(reloaded, LanguagePolicy) else None
    except (RuntimeError, MemoryError) as error:
        if is_out_of_memory(error):
            return None  # the snapshot is whole; there is no room to look at it
        raise


def _difference(one: LanguagePolicy, other: LanguagePolicy) -> float:
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(one.config.vocab_size, (_PROMPTS * _GROUP, 2 * _TOKENS), generator=generator)
    prompts = ids[::_GROUP, :_TOKENS].tolist()
    completions = ids[:, _TOKENS:].to(one.device)
    lengths = torch.full((len(ids),), _TOKENS, device=one.device)
    with torch.no_grad():
        ours, theirs = (policy.logps(prompts, completions, lengths)[0] for policy in (one, other))
    return float((ours - theirs).abs().max())
