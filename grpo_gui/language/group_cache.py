"""The static key-value cache of sampling: each prompt's part once for its whole group, and each completion's own."""

from collections.abc import Sequence
from itertools import chain

import torch
from torch import Tensor

from grpo_gui.language.attention import attend_prompts
from grpo_gui.language.decoder import Decoder
from grpo_gui.language.layers import LayerWeights, finish_layer, project_heads, project_vocabulary, weights_of
from grpo_gui.language.layout import Segment
from grpo_gui.language.rotary import rotary_tables, rotate_quickly

_BLOCK = 16  # own keys are read in whole blocks: the product's shape changes rarely, and small ones are slow


class GroupCache:
    """Runs the decoder token by token; no gradients.

    P prompts of up to L tokens, G completions each; K key-value heads shared by S query heads each, head size D.
    """

    def __init__(self, decoder: Decoder, prompts: Sequence[Sequence[int]], group_size: int, new_tokens: int) -> None:
        config, device = decoder.config, decoder.head_weight.device
        self._decoder, self._config = decoder, config
        self._layers = weights_of(decoder)
        lengths = [len(prompt) for prompt in prompts]
        self._group, self._kv = group_size, config.num_key_value_heads
        self._lengths = torch.tensor(lengths, device=device)
        self._segment = Segment.of_lengths(lengths, device)
        self._ids = torch.tensor(list(chain.from_iterable(prompts)), device=device)
        self._prompt: list[tuple[Tensor, Tensor]] = []  # keys and values (P * K, L, D) of each layer
        blocks = -(-new_tokens // _BLOCK)
        shape = (2, len(lengths) * self._kv, group_size, blocks * _BLOCK, config.head_dim)
        self._own = [decoder.head_weight.new_zeros(shape) for _ in self._layers]
        behind = torch.arange(self._segment.width, device=device) >= self._lengths.unsqueeze(1)
        ending = decoder.head_weight.new_zeros(behind.shape).masked_fill_(behind, -torch.inf)
        self._ending = ending.repeat_interleave(self._kv, dim=0).unsqueeze(1)  # (P * K, 1, L), added to scores
        self._places = torch.arange(blocks * _BLOCK, device=device)

    def prefill(self) -> Tensor:
        """Compute the prompts; returns the logits (P, vocabulary) behind each one's last token."""
        config, segment = self._config, self._segment
        positions = segment.flat(torch.arange(segment.width, device=self._ids.device).expand(segment.count, -1))
        hidden = self._decoder.model.embed_tokens(self._ids)
        tables = self._tables(positions, hidden.dtype)
        for layer in self._layers:
            queries, keys, values = self._project(hidden, layer, tables)
            queries, keys, values = segment.dense(queries), segment.dense(keys), segment.dense(values)
            mixed = segment.flat(attend_prompts(queries, keys, values)).flatten(1)
            hidden = finish_layer(hidden, mixed, layer, self._decoder)
            shape = (segment.count * self._kv, segment.width, config.head_dim)
            self._prompt.append((keys.transpose(1, 2).reshape(shape), values.transpose(1, 2).reshape(shape)))
        return project_vocabulary(hidden.index_select(0, self._lengths.cumsum(0) - 1), self._decoder)

    def decode(self, index: int, tokens: Tensor) -> Tensor:
        """Logits (P * G, vocabulary) behind `tokens` (P * G,), each row's token at place `index` of its completion."""
        hidden = self._decoder.model.embed_tokens(tokens)
        tables = self._tables((self._lengths + index).repeat_interleave(self._group), hidden.dtype)
        used = (index // _BLOCK + 1) * _BLOCK
        later = torch.zeros(used, device=hidden.device, dtype=hidden.dtype)
        later.masked_fill_(self._places[:used] > index, -torch.inf)
        for layer, prompt, own in zip(self._layers, self._prompt, self._own, strict=True):
            queries, keys, values = self._project(hidden, layer, tables)
            own[0, :, :, index], own[1, :, :, index] = self._by_prompt(keys), self._by_prompt(values)
            mixed = self._attend(queries, prompt, own[:, :, :, :used], later)
            hidden = finish_layer(hidden, mixed, layer, self._decoder)
        return project_vocabulary(hidden, self._decoder)

    def _project(
        self, hidden: Tensor, layer: LayerWeights, tables: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Rotated queries (N, K * S, D) and keys (N, K, D), and values (N, K, D)."""
        joint = project_heads(hidden, layer, self._decoder)
        turned = rotate_quickly(joint[:, : -self._kv], *tables)
        return turned[:, : -self._kv], turned[:, -self._kv :], joint[:, -self._kv :]

    def _by_prompt(self, rows: Tensor) -> Tensor:
        """(P * G, K, X) as (P * K, G, X)."""
        grouped = rows.view(-1, self._group, self._kv, rows.shape[-1]).transpose(1, 2)
        return grouped.reshape(-1, self._group, rows.shape[-1])

    def _attend(self, queries: Tensor, prompt: tuple[Tensor, Tensor], own: Tensor, later: Tensor) -> Tensor:
        """Mix values for queries (P * G, K * S, D); `own` is (2, P * K, G, t, D), `later` hides its free places."""
        count, dim = len(queries), self._config.head_dim
        scale, length = dim**-0.5, self._segment.width
        grouped = self._by_prompt(queries.reshape(count, self._kv, -1))
        grouped = grouped.reshape(len(grouped), -1, dim)  # (P * K, G * S, D)
        single = grouped.reshape(count * self._kv, -1, dim)  # (P * K * G, S, D)
        keys, values = own[0].flatten(0, 1), own[1].flatten(0, 1)
        to_prompt = torch.baddbmm(self._ending, grouped, prompt[0].transpose(1, 2), alpha=scale)
        to_own = torch.baddbmm(later, single, keys.transpose(1, 2), alpha=scale)
        weights = torch.cat((to_prompt, to_own.view(*to_prompt.shape[:2], -1)), dim=-1).softmax(-1)
        mixed = torch.bmm(weights[..., :length], prompt[1])
        mixed = torch.baddbmm(mixed.view(single.shape), weights[..., length:].view(*single.shape[:2], -1), values)
        mixed = mixed.view(-1, self._kv, self._group, mixed.numel() // (count * self._kv)).transpose(1, 2)
        return mixed.reshape(count, -1)

    def _tables(self, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Rotary tables that broadcast over heads: (N, 1, D) each."""
        cosines, sines = rotary_tables(self._config, positions)
        return cosines.unsqueeze(1).to(dtype), sines.unsqueeze(1).to(dtype)
