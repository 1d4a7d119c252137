"""Sampling of groups: completions grow token by token until each has its end."""

from collections.abc import Sequence, Set

import torch
from torch import Tensor

from grpo_gui.errors import ModelError
from grpo_gui.language.decoder import Decoder
from grpo_gui.language.group_cache import GroupCache
from grpo_gui.language.sampling import Sampled, SamplingConfig, TokenDraw


def sample_groups(
    decoder: Decoder,
    prompts: Sequence[Sequence[int]],
    group_size: int,
    sampling: SamplingConfig,
    generator: torch.Generator,
    *,
    eos_ids: Set[int],
    pad_id: int,
) -> Sampled:
    """Sample `group_size` completions for each prompt; rows are prompt-major.

    Sampling ends early when every row has an EOS. The same generator state on the same machine gives the same tokens.

    Raises:
        ModelError: an empty prompt, or a prompt that leaves no room for `max_new_tokens`.
    """
    _check(decoder, prompts, sampling)
    with torch.inference_mode():
        ends = torch.tensor(sorted(eos_ids), dtype=torch.int64, device=decoder.head_weight.device)
        ids, logps = _grow(decoder, prompts, group_size, TokenDraw(sampling, generator), sampling.max_new_tokens, ends)
    # copies: tensors made under inference_mode cannot take part in a loss
    return _cut(ids.clone(), logps.clone(), ends.clone(), pad_id)


def _check(decoder: Decoder, prompts: Sequence[Sequence[int]], sampling: SamplingConfig) -> None:
    room = decoder.config.max_position_embeddings
    for index, prompt in enumerate(prompts):
        if not prompt:
            raise ModelError(f"Prompt {index + 1} has no tokens; give every prompt at least one character.")
        if len(prompt) + sampling.max_new_tokens > room:
            raise ModelError(
                f"Prompt {index + 1} has {len(prompt)} tokens; with {sampling.max_new_tokens} new ones it exceeds "
                f"the model's {room} positions. Shorten the prompt or lower the completion length."
            )


def _grow(
    decoder: Decoder, prompts: Sequence[Sequence[int]], group_size: int, draw: TokenDraw, width: int, ends: Tensor
) -> tuple[Tensor, Tensor]:
    """Tokens and their log-probabilities (t, P * G), t <= width steps; rows go on behind their end."""
    cache = GroupCache(decoder, prompts, group_size, width)
    logits = cache.prefill().repeat_interleave(group_size, dim=0)
    ended = torch.zeros(len(logits), dtype=torch.bool, device=logits.device)
    tokens, logps = draw(logits)
    ids, scores = [tokens], [logps]
    while len(ids) < width:
        ended |= torch.isin(tokens, ends)
        if bool(ended.all()):
            break
        tokens, logps = draw(cache.decode(len(ids) - 1, tokens))
        ids.append(tokens)
        scores.append(logps)
    return torch.stack(ids), torch.stack(scores)


def _cut(ids: Tensor, logps: Tensor, ends: Tensor, pad_id: int) -> Sampled:
    """End every row behind its first EOS; `ids` and `logps` are (t, P * G)."""
    is_end = torch.isin(ids, ends)
    truncated = ~is_end.any(0)
    lengths = torch.where(truncated, len(ids), is_end.int().argmax(0) + 1)
    behind = torch.arange(len(ids), device=ids.device).unsqueeze(1) >= lengths
    return Sampled(
        ids=ids.masked_fill(behind, pad_id).t().contiguous(),
        lengths=lengths,
        truncated=truncated,
        logps=logps.masked_fill(behind, 0.0).t().contiguous(),
    )
