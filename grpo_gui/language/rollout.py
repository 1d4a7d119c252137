"""Sampling of groups: each prompt is computed once, its keys and values are shared by its completions."""

from collections.abc import Sequence, Set

import torch
from torch import Tensor

from grpo_gui.errors import ModelError
from grpo_gui.language.attention import attend_prompts
from grpo_gui.language.decoder import Decoder
from grpo_gui.language.kernels import linear
from grpo_gui.language.layers import feed_forward, layers_of, norm, project_heads
from grpo_gui.language.layout import Segment
from grpo_gui.language.rotary import rotary_tables, rotate
from grpo_gui.language.sampling import Sampled, SamplingConfig, TokenDraw


@torch.no_grad()
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

    Sampling ends early when every row has its EOS. `generator` lives on the decoder's device.

    Raises:
        ModelError: an empty prompt, or a prompt that leaves no room for `max_new_tokens`.
    """
    _check(decoder, prompts, sampling)
    draw = TokenDraw(sampling, generator)
    rows = _Rows(len(prompts) * group_size, sampling.max_new_tokens, eos_ids, pad_id, decoder.head_weight.device)
    cache = _GroupCache(decoder, prompts, group_size, sampling.max_new_tokens)
    logits = cache.prefill().repeat_interleave(group_size, dim=0)
    for index in range(sampling.max_new_tokens):
        tokens, logps = draw(logits)
        rows.append(index, tokens, logps)
        if index + 1 == sampling.max_new_tokens or rows.all_ended():
            break
        logits = cache.decode(index, tokens)
    return rows.result()


def _check(decoder: Decoder, prompts: Sequence[Sequence[int]], sampling: SamplingConfig) -> None:
    room = decoder.config.max_position_embeddings
    for index, prompt in enumerate(prompts):
        if not prompt:
            raise ModelError(f"Prompt {index} has no tokens; give every prompt at least one character.")
        if len(prompt) + sampling.max_new_tokens > room:
            raise ModelError(
                f"Prompt {index} has {len(prompt)} tokens; with {sampling.max_new_tokens} new ones it exceeds "
                f"the model's {room} positions. Shorten the prompt or lower the completion length."
            )


class _Rows:
    """The sampled tokens so far, and which rows have ended."""

    def __init__(self, rows: int, width: int, eos_ids: Set[int], pad_id: int, device: torch.device) -> None:
        self.ids = torch.full((width, rows), pad_id, dtype=torch.int64, device=device)
        self.logps = torch.zeros((width, rows), device=device)
        self.lengths = torch.zeros(rows, dtype=torch.int64, device=device)
        self.ended = torch.zeros(rows, dtype=torch.bool, device=device)
        self._eos = torch.tensor(sorted(eos_ids), dtype=torch.int64, device=device)
        self._pad_id = pad_id

    def append(self, index: int, tokens: Tensor, logps: Tensor) -> None:
        """Take the tokens at place `index`; rows that have ended stay as they are."""
        self.ids[index] = tokens.masked_fill(self.ended, self._pad_id)
        self.logps[index] = logps.masked_fill(self.ended, 0.0)
        self.lengths += ~self.ended
        self.ended |= torch.isin(tokens, self._eos)

    def all_ended(self) -> bool:
        """True when no row goes on."""
        return bool(self.ended.all())

    def result(self) -> Sampled:
        """Everything sampled, cut to the longest completion."""
        width = int(self.lengths.max())
        return Sampled(
            ids=self.ids[:width].t().contiguous(),
            lengths=self.lengths,
            truncated=~self.ended,
            logps=self.logps[:width].t().contiguous(),
        )


class _GroupCache:
    """Keys and values of the prompts (once each) and of the completions (own part), per layer."""

    def __init__(self, decoder: Decoder, prompts: Sequence[Sequence[int]], group_size: int, new_tokens: int) -> None:
        self._decoder = decoder
        self._group = group_size
        config, weight = decoder.config, decoder.head_weight
        self._lengths = torch.tensor([len(prompt) for prompt in prompts], device=weight.device)
        self._segment = Segment.of_lengths([len(prompt) for prompt in prompts], weight.device)
        self._ids = torch.tensor([token for prompt in prompts for token in prompt], device=weight.device)
        self._prompt: list[tuple[Tensor, Tensor]] = []  # keys (P * kv, d, L), values (P * kv, L, d)
        shape = (2, len(prompts) * config.num_key_value_heads, group_size, new_tokens, config.head_dim)
        self._own = [torch.empty(shape, device=weight.device, dtype=weight.dtype) for _ in layers_of(decoder)]
        hidden_places = torch.arange(self._segment.width, device=weight.device) >= self._lengths.unsqueeze(1)
        mask = torch.zeros(hidden_places.shape, device=weight.device).masked_fill_(hidden_places, -torch.inf)
        self._mask = mask.view(len(prompts), 1, 1, 1, -1)

    def prefill(self) -> Tensor:
        """Compute the prompts; returns the logits (P, vocabulary) behind each one's last token."""
        config, segment = self._decoder.config, self._segment
        device = self._ids.device
        positions = segment.flat(torch.arange(segment.width, device=device).expand(segment.count, -1))
        hidden = self._decoder.model.embed_tokens(self._ids)
        tables = _tables(self._decoder, positions, hidden.dtype)
        for layer in layers_of(self._decoder):
            queries, keys, values = project_heads(norm(hidden, layer.input_layernorm.weight, config), layer)
            queries, keys = rotate(queries, *tables), rotate(keys, *tables)
            queries, keys, values = (segment.dense(part) for part in (queries, keys, values))
            mixed = segment.flat(attend_prompts(queries, keys, values)).reshape(len(hidden), -1)
            hidden = hidden + linear(mixed, layer.self_attn.o_proj.weight)
            hidden = hidden + feed_forward(norm(hidden, layer.post_attention_layernorm.weight, config), layer)
            shape = (segment.count * config.num_key_value_heads, segment.width, config.head_dim)
            keys, values = (part.transpose(1, 2).reshape(shape) for part in (keys, values))
            self._prompt.append((keys.transpose(1, 2), values))
        last = hidden.index_select(0, self._lengths.cumsum(0) - 1)
        return self._logits(last)

    def decode(self, index: int, tokens: Tensor) -> Tensor:
        """Logits (P * G, vocabulary) behind `tokens` (P * G,), each row's token at place `index`."""
        config = self._decoder.config
        hidden = self._decoder.model.embed_tokens(tokens)
        tables = _tables(self._decoder, (self._lengths + index).repeat_interleave(self._group), hidden.dtype)
        for layer, prompt, own in zip(layers_of(self._decoder), self._prompt, self._own, strict=True):
            queries, keys, values = project_heads(norm(hidden, layer.input_layernorm.weight, config), layer)
            queries, keys = rotate(queries, *tables), rotate(keys, *tables)
            kept = own[:, :, :, : index + 1]
            kept[0, :, :, index], kept[1, :, :, index] = self._by_prompt(keys), self._by_prompt(values)
            mixed = self._attend(queries, kept, prompt)
            hidden = hidden + linear(mixed, layer.self_attn.o_proj.weight)
            hidden = hidden + feed_forward(norm(hidden, layer.post_attention_layernorm.weight, config), layer)
        return self._logits(hidden)

    def _by_prompt(self, rows: Tensor) -> Tensor:
        """(P * G, kv_heads, ...) as (P * kv_heads, G, ...)."""
        grouped = rows.view(-1, self._group, *rows.shape[1:]).transpose(1, 2)
        return grouped.reshape(-1, self._group, *rows.shape[2:])

    def _attend(self, queries: Tensor, own: Tensor, prompt: tuple[Tensor, Tensor]) -> Tensor:
        """Mix values for queries (P * G, heads, d); `own` is (2, P * kv_heads, G, t, d)."""
        config = self._decoder.config
        kv_heads, dim = config.num_key_value_heads, config.head_dim
        shared = config.num_attention_heads // kv_heads
        count, length = self._segment.count, self._segment.width
        grouped = self._by_prompt(queries.view(len(queries), kv_heads, shared * dim))
        grouped = grouped.reshape(count * kv_heads, self._group * shared, dim) * dim**-0.5
        single = grouped.reshape(-1, shared, dim)
        keys, values = own.flatten(1, 2)
        shape = (count, kv_heads, self._group, shared)
        to_prompt = torch.bmm(grouped, prompt[0]).view(*shape, length) + self._mask
        to_own = torch.bmm(single, keys.transpose(1, 2)).view(*shape, -1)
        weights = torch.cat((to_prompt, to_own), dim=-1).softmax(-1)
        of_prompt, of_own = torch.split(weights, [length, own.shape[3]], dim=-1)
        mixed = torch.bmm(of_prompt.reshape(count * kv_heads, -1, length), prompt[1]).view(*shape, dim)
        mixed = mixed + torch.bmm(of_own.reshape(-1, shared, own.shape[3]), values).view(*shape, dim)
        return mixed.transpose(1, 2).reshape(len(queries), -1)

    def _logits(self, hidden: Tensor) -> Tensor:
        rows = norm(hidden, self._decoder.model.norm.weight, self._decoder.config)
        return linear(rows, self._decoder.head_weight)


def _tables(decoder: Decoder, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Rotary tables that broadcast over heads: (N, 1, head_dim) each."""
    cosines, sines = rotary_tables(decoder.config, positions)
    return cosines.unsqueeze(1).to(dtype), sines.unsqueeze(1).to(dtype)
