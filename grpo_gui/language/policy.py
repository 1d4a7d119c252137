"""What the trainer asks of a language policy, and the built-in policy that answers it."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor, nn

from grpo_gui.errors import ModelError
from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.decoder import Decoder
from grpo_gui.language.packed import packed_logps
from grpo_gui.language.rollout import sample_groups
from grpo_gui.language.sampling import Sampled, SamplingConfig
from grpo_gui.language.saving import save_model
from grpo_gui.language.tokenizer import Tokenizer


class Policy(Protocol):
    """A model that samples groups of completions and scores them.

    P prompts with G completions each; completion rows are prompt-major: row p * G + g.
    """

    @property
    def tokenizer(self) -> Tokenizer:
        """Makes the prompts' ids and reads the completions'."""

    @property
    def device(self) -> torch.device:
        """Where the weights and all returned tensors lie."""

    def parameters(self) -> Iterator[nn.Parameter]:
        """The trained parameters."""

    def state_dict(self) -> dict[str, Tensor]:
        """Weights by name, as `load_state_dict` takes them."""

    def load_state_dict(self, weights: Mapping[str, Tensor]) -> None:
        """Take over weights; raises ModelError when names or shapes differ."""

    def save(self, folder: Path) -> None:
        """Write a model folder that `load_policy` and transformers read; raises ModelError when the disk refuses."""

    def frozen_copy(self) -> "Policy":
        """A copy that no later update changes: the reference policy."""

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        group_size: int,
        sampling: SamplingConfig,
        generator: torch.Generator,
    ) -> Sampled:
        """Sample `group_size` completions for each prompt (lists of ids, lengths may differ)."""

    def logps(
        self,
        prompts: Sequence[Sequence[int]],
        completions: Tensor,
        lengths: Tensor,
        *,
        temperature: float = 1.0,
        with_entropy: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Log-probability of each completion token, and its distribution's entropy when asked.

        Args:
            prompts: the prompts' ids, at most as many as were sampled (a micro-batch).
            completions: ids (P * G, T), filled behind each row's end with any id.
            lengths: tokens of each row (P * G,), from 1 to T.
            temperature: logits are divided by it before log-softmax; 0 (greedy sampling) counts as 1.
            with_entropy: also return the entropy.

        Returns:
            Log-probabilities (P * G, T) in float32, differentiable, 0 behind each row's end; the entropy in nats of
            the same shape, not differentiable, or None.
        """


class LanguagePolicy:
    """The built-in decoder with its tokenizer; an implementation of Policy."""

    def __init__(self, decoder: Decoder, tokenizer: Tokenizer) -> None:
        self._decoder = decoder
        self._tokenizer = tokenizer

    @property
    def tokenizer(self) -> Tokenizer:
        """Makes the prompts' ids and reads the completions'."""
        return self._tokenizer

    @property
    def decoder(self) -> Decoder:
        """The model itself."""
        return self._decoder

    @property
    def config(self) -> DecoderConfig:
        """The model's shape."""
        return self._decoder.config

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        return self._decoder.head_weight.device

    def parameters(self) -> Iterator[nn.Parameter]:
        """The trained parameters."""
        return self._decoder.parameters()

    def state_dict(self) -> dict[str, Tensor]:
        """Weights in Hugging Face's Llama naming; the tensors share memory with the model."""
        weights: dict[str, Tensor] = self._decoder.state_dict()
        return weights

    def load_state_dict(self, weights: Mapping[str, Tensor]) -> None:
        """Take over weights; raises ModelError when names or shapes differ."""
        try:
            self._decoder.load_state_dict(weights)
        except RuntimeError as error:
            raise ModelError(
                "These weights belong to a model of another shape; choose the model that they were saved from."
            ) from error

    def save(self, folder: Path) -> None:
        """Write a model folder that `load_policy` and transformers read, in float32; see `save_model`."""
        save_model(folder, self._decoder, self._tokenizer, self.config)

    def frozen_copy(self) -> "LanguagePolicy":
        """A copy that no later update changes: the reference policy."""
        decoder = copy.deepcopy(self._decoder)
        decoder.requires_grad_(False)
        return LanguagePolicy(decoder, self._tokenizer)

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        group_size: int,
        sampling: SamplingConfig,
        generator: torch.Generator,
    ) -> Sampled:
        """Sample `group_size` completions for each prompt; see `sample_groups`."""
        return sample_groups(
            self._decoder,
            prompts,
            group_size,
            sampling,
            generator,
            eos_ids=self._tokenizer.eos_ids,
            pad_id=self._tokenizer.pad_id,
        )

    def logps(
        self,
        prompts: Sequence[Sequence[int]],
        completions: Tensor,
        lengths: Tensor,
        *,
        temperature: float = 1.0,
        with_entropy: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Log-probabilities and entropy of completions; see `Policy.logps`."""
        return packed_logps(
            self._decoder, prompts, completions, lengths, temperature=temperature, with_entropy=with_entropy
        )
