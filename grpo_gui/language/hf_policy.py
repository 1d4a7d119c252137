"""A policy over any causal language model of transformers, trained whole or through a LoRA adapter."""

import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from grpo_gui.errors import ModelError
from grpo_gui.language.chat_tokenizer import ChatTokenizer
from grpo_gui.language.sampling import Sampled, SamplingConfig, TokenDraw

CHUNK_NUMBERS = 1 << 26  # logits whose entropy is worked out at once


class HfPolicy:
    """An implementation of Policy: rows are padded on the left, positions count from each row's first token.

    Dropout is off, so that the ratio is 1 before the first update.

    Args:
        model: a transformers model, or a peft model around one.
        tokenizer: made for it.
        uses_adapter: the model has a LoRA adapter, which alone is trained.
        is_reference: the adapter is off: this is the model that training began with.
        gradient_checkpointing: forget activations and work them out again: less memory, a third slower.
    """

    def __init__(
        self,
        model: Any,  # noqa: ANN401 - transformers has no types
        tokenizer: ChatTokenizer,
        *,
        uses_adapter: bool = False,
        is_reference: bool = False,
        gradient_checkpointing: bool = False,
    ) -> None:
        self.model = model
        self.uses_adapter = uses_adapter
        self._tokenizer, self._is_reference, self._checkpointing = tokenizer, is_reference, gradient_checkpointing
        for module in model.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        base = model.get_base_model() if uses_adapter else model
        taken = inspect.signature(base.forward).parameters
        self._keeps_logits = "logits_to_keep" in taken
        self.cache_argument = "cache" if "cache" in taken else "past_key_values"  # newer and older transformers
        if gradient_checkpointing and not is_reference:
            # without re-entry, gradients reach an adapter though the embedding below it is frozen
            enable = getattr(base, "activation_checkpointing_enable", base.gradient_checkpointing_enable)
            enable({"use_reentrant": False})
        model.eval()

    @property
    def tokenizer(self) -> ChatTokenizer:
        """Makes the prompts' ids and reads the completions'."""
        return self._tokenizer

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        device: torch.device = next(iter(self.model.parameters())).device
        return device

    def parameters(self) -> Iterator[nn.Parameter]:
        """The trained parameters."""
        return (parameter for _, parameter in self._named())

    def state_dict(self) -> dict[str, Tensor]:
        """The trained weights by name; of a reference with an adapter those of the model below it."""
        return {name: parameter.detach() for name, parameter in self._named()}

    def load_state_dict(self, weights: Mapping[str, Tensor]) -> None:
        """Take over weights; raises ModelError when names or shapes differ."""
        own = dict(self._named())
        wrong = sorted(own.keys() ^ weights.keys())
        wrong += [name for name in own if name not in wrong and own[name].shape != weights[name].shape]
        if wrong:
            raise ModelError(f"These weights belong to another model ({wrong[0]} differs); choose its own folder.")
        with torch.no_grad():
            for name, parameter in own.items():
                parameter.copy_(weights[name])

    def save(self, folder: Path) -> None:
        """Write the model's files, or the adapter's, with the tokenizer; raises ModelError when the disk refuses."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.uses_adapter:
                self.model.save_pretrained(folder, save_embedding_layers=False)  # they are never trained
                (folder / "README.md").unlink(missing_ok=True)  # peft writes an empty form
                base = self.model.get_base_model()
                base.config.save_pretrained(folder)
                base.generation_config.save_pretrained(folder)
            else:
                self.model.save_pretrained(folder)
            self.tokenizer.write_files(folder)
        except OSError as error:
            raise ModelError(
                f"The model cannot be saved in {folder} ({error}); choose a folder with room and write access."
            ) from error

    def frozen_copy(self) -> "HfPolicy":
        """The reference policy: this model with the adapter off, or a copy that no later update changes."""
        if self.uses_adapter:
            return HfPolicy(self.model, self._tokenizer, uses_adapter=True, is_reference=True)
        model = copy.deepcopy(self.model)
        model.requires_grad_(False)
        return HfPolicy(model, self._tokenizer, is_reference=True)

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        group_size: int,
        sampling: SamplingConfig,
        generator: torch.Generator,
    ) -> Sampled:
        """Sample `group_size` completions for each prompt; each prompt goes through the model once."""
        with torch.inference_mode(), self._as_it_is():
            rows = _Rows(self, prompts, group_size, sampling, generator)
            sampled = rows.draw()
        # inference tensors cannot enter autograd
        return Sampled(*(tensor.clone() for tensor in (sampled.ids, sampled.lengths, sampled.truncated, sampled.logps)))

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
        group, width = len(completions) // len(prompts), completions.shape[1]
        prompt_ids, prompt_mask = left_padded(prompts, self.tokenizer.pad_id, self.device)
        inside = torch.arange(width, device=self.device) < lengths.unsqueeze(1)
        ids = torch.cat((prompt_ids.repeat_interleave(group, 0), completions), dim=1)
        mask = torch.cat((prompt_mask.repeat_interleave(group, 0), inside.long()), dim=1)
        self.model.train(self._checkpointing and torch.is_grad_enabled())
        kept: dict[str, Any] = {"logits_to_keep": width + 1} if self._keeps_logits else {}
        with self._as_it_is():
            output = self.model(
                input_ids=ids, attention_mask=mask, position_ids=positions_of(mask), use_cache=False, **kept
            )
        self.model.eval()
        logits = output.logits[:, -width - 1 : -1].float()
        if temperature not in (0.0, 1.0):
            logits = logits / temperature
        chosen = logits.gather(-1, completions.unsqueeze(-1)).squeeze(-1) - logits.logsumexp(-1)
        entropy = _entropy(logits.detach()) if with_entropy else None
        return torch.where(inside, chosen, 0.0), None if entropy is None else torch.where(inside, entropy, 0.0)

    def _as_it_is(self) -> AbstractContextManager[None]:
        """A context in which the model is the reference where this is one."""
        off: AbstractContextManager[None] = nullcontext()
        if self._is_reference and self.uses_adapter:
            off = self.model.disable_adapter()
        return off

    def _named(self) -> list[tuple[str, nn.Parameter]]:
        named = list(self.model.named_parameters())
        if not self.uses_adapter:
            return named
        return [(name, parameter) for name, parameter in named if parameter.requires_grad is not self._is_reference]


class _Rows:
    """The rows of one call of `sample` while they grow, with the cache of keys and values."""

    def __init__(
        self,
        policy: HfPolicy,
        prompts: Sequence[Sequence[int]],
        group_size: int,
        sampling: SamplingConfig,
        generator: torch.Generator,
    ) -> None:
        self._model, self._tokenizer, self._sampling = policy.model, policy.tokenizer, sampling
        self._cache_argument = policy.cache_argument
        self._draw = TokenDraw(sampling, generator)
        ids, mask = left_padded(prompts, policy.tokenizer.pad_id, policy.device)
        self._mask = mask.repeat_interleave(group_size, 0)
        kept: dict[str, Any] = {"logits_to_keep": 1} if policy._keeps_logits else {}
        output = self._model(
            input_ids=ids, attention_mask=mask, position_ids=positions_of(mask), use_cache=True, **kept
        )
        self._cache = output.past_key_values
        if not hasattr(self._cache, "batch_repeat_interleave"):
            raise ModelError("This architecture keeps no keys and values of a prompt; choose a transformer model.")
        self._cache.batch_repeat_interleave(group_size)
        self._logits = output.logits[:, -1].repeat_interleave(group_size, 0)

    def draw(self) -> Sampled:
        """Draw tokens until every row has ended."""
        ends = torch.tensor(sorted(self._tokenizer.eos_ids), device=self._logits.device)
        ended = torch.zeros(len(self._logits), dtype=torch.bool, device=self._logits.device)
        lengths = torch.zeros_like(ended, dtype=torch.int64)
        ids, logps = [], []
        while True:
            token, logp = self._draw(self._logits)
            token = torch.where(ended, self._tokenizer.pad_id, token)
            ids.append(token)
            logps.append(torch.where(ended, 0.0, logp))
            lengths += ~ended
            ended = ended | torch.isin(token, ends)
            if len(ids) == self._sampling.max_new_tokens or bool(ended.all()):
                return Sampled(torch.stack(ids, 1), lengths, ~ended, torch.stack(logps, 1).float())
            self._step(token)

    def _step(self, token: Tensor) -> None:
        self._mask = torch.cat((self._mask, torch.ones_like(self._mask[:, :1])), dim=1)
        output = self._model(
            input_ids=token.unsqueeze(1),
            attention_mask=self._mask,
            position_ids=positions_of(self._mask)[:, -1:],
            use_cache=True,
            **{self._cache_argument: self._cache},
        )
        self._logits = output.logits[:, -1]


def left_padded(rows: Sequence[Sequence[int]], pad_id: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Ids and mask (B, longest) of rows that all end at the right edge."""
    longest = max(map(len, rows))
    ids = [[pad_id] * (longest - len(row)) + list(row) for row in rows]
    mask = [[0] * (longest - len(row)) + [1] * len(row) for row in rows]
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)


def positions_of(mask: Tensor) -> Tensor:
    """Positions (B, S) that count from each row's first unmasked token; 0 where masked on the left."""
    return (mask.cumsum(-1) - 1).clamp_min(0)


def _entropy(logits: Tensor) -> Tensor:
    """Entropy in nats (B, T) of softmax(logits) (B, T, V), some rows at a time to save memory."""
    rows = max(1, CHUNK_NUMBERS // logits[0].numel())
    parts = []
    for chunk in torch.split(logits, rows):
        logp = chunk.log_softmax(-1)
        parts.append(-(logp.exp() * logp).sum(-1))
    return torch.cat(parts)
