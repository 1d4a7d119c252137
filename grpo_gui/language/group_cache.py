"""The static key-value cache of sampling: each prompt's part once for its whole group, and each completion's own."""

from collections.abc import Sequence
from itertools import chain

import torch
from torch import Tensor

from grpo_gui.language.attention import attend_prompts
from grpo_gui.language.decoder import Decoder
from grpo_gui.language.layers import finish_layer, project_heads, project_vocabulary, weights_for_sampling
from grpo_gui.language.layout import Segment
from grpo_gui.language.rotary import rotary_tables, rotate_quickly

_BLOCK = 16  # own keys are read in whole blocks: the product's shape changes rarely, and small ones are slow


class GroupCache:
    """Runs the decoder token by token; no gradients.

    P prompts of up to L tokens, G completions each; K key-value heads shared by S query heads each, head size D.
    Heads come first in the cache: all rows that meet one prompt's keys of one head lie together.
    """

    def __init__(self, decoder: Decoder, prompts: Sequence[Sequence[int]], group_size: int, new_tokens: int) -> None:
        config, weight = decoder.config, decoder.head_weight
        self._decoder = decoder
        self._layers = weights_for_sampling(decoder)
        self._group, self._kv = group_size, config.num_key_value_heads
        lengths = [len(prompt) for prompt in prompts]
        self._lengths = torch.tensor(lengths, device=weight.device)
        self._segment = Segment.of_lengths(lengths, weight.device)
        self._ids = torch.tensor(list(chain.from_iterable(prompts)), device=weight.device)
        self._prompt: list[tuple[Tensor, Tensor]] = []  # keys and values (K * P, L, D) of each layer
        width = -(-new_tokens // _BLOCK) * _BLOCK
        shape = (2, self._kv, len(prompts), group_size, width, config.head_dim)
        self._own = [weight.new_zeros(shape) for _ in self._layers]
        self._places = torch.arange(width, device=weight.device)
        behind = torch.arange(self._segment.width, device=weight.device) >= self._lengths.unsqueeze(1)
        ending = weight.new_zeros(behind.shape).masked_fill_(behind, -torch.inf)
        self._ending = ending.repeat(self._kv, 1).unsqueeze(1)  # (K * P, 1, L), added to scores

    def prefill(self) -> Tensor:
        """Compute the prompts; returns the logits (P, vocabulary) behind each one's last token."""
        decoder, segment, kv = self._decoder, self._segment, self._kv
        positions = segment.flat(torch.arange(segment.width, device=self._ids.device).expand(segment.count, -1))
        hidden = decoder.model.embed_tokens(self._ids)
        cosines, sines = (table.unsqueeze(1).to(hidden.dtype) for table in rotary_tables(decoder.config, positions))
        last = self._lengths.cumsum(0) - 1
        for layer in self._layers:
            joint = project_heads(hidden, layer, decoder)
            turned = rotate_quickly(joint[:, :-kv], cosines, sines)
            queries, keys, values = (segment.dense(part) for part in (turned[:, :-kv], turned[:, -kv:], joint[:, -kv:]))
            mixed = segment.flat(attend_prompts(queries, keys, values)).flatten(1)
            if layer is self._layers[-1]:  # behind the last attention only the last tokens are of use
                hidden, mixed = hidden.index_select(0, last), mixed.index_select(0, last)
            hidden = finish_layer(hidden, mixed, layer, decoder)
            shape = (kv * segment.count, segment.width, decoder.config.head_dim)
            self._prompt.append((keys.permute(2, 0, 1, 3).reshape(shape), values.permute(2, 0, 1, 3).reshape(shape)))
        return project_vocabulary(hidden, decoder)

    def decode(self, index: int, tokens: Tensor) -> Tensor:
        """Logits (P * G, vocabulary) behind `tokens` (P * G,), each row's token at place `index` of its completion."""
        decoder, kv = self._decoder, self._kv
        hidden = decoder.model.embed_tokens(tokens)
        tables = rotary_tables(decoder.config, self._lengths + index)
        cosines, sines = (table.view(len(table), 1, -1).to(hidden.dtype) for table in tables)
        used = (index // _BLOCK + 1) * _BLOCK
        later = hidden.new_zeros(used).masked_fill_(self._places[:used] > index, -torch.inf)
        for layer, prompt, own in zip(self._layers, self._prompt, self._own, strict=True):
            joint = project_heads(hidden, layer, decoder)
            heads = joint.view(len(cosines), self._group, *joint.shape[1:]).permute(2, 0, 1, 3).contiguous()
            turned = rotate_quickly(heads[:-kv], cosines, sines)
            own[0, :, :, :, index], own[1, :, :, :, index] = turned[-kv:], heads[-kv:]
            mixed = self._attend(turned[:-kv], prompt, own[:, :, :, :, :used], later)
            hidden = finish_layer(hidden, mixed, layer, decoder)
        return project_vocabulary(hidden, decoder)

    def _attend(self, queries: Tensor, prompt: tuple[Tensor, Tensor], own: Tensor, later: Tensor) -> Tensor:
        """Mix values for `queries` (K * S, P, G, D); returns (P * G, K * S * D).

        `own` is (2, K, P, G, t, D); `later` (t,) hides its free places.
        """
        heads, count, group, dim = queries.shape
        scale, length = dim**-0.5, self._segment.width
        grouped = queries.view(self._kv, -1, count, group, dim).permute(0, 2, 3, 1, 4)  # (K, P, G, S, D)
        single = grouped.reshape(self._kv * count * group, -1, dim)  # (K * P * G, S, D)
        grouped = single.reshape(self._kv * count, -1, dim)  # (K * P, G * S, D)
        keys, values = own[0].flatten(0, 2), own[1].flatten(0, 2)
        to_prompt = torch.baddbmm(self._ending, grouped, prompt[0].transpose(1, 2), alpha=scale)
        to_own = torch.baddbmm(later, single, keys.transpose(1, 2), alpha=scale)
        weights = torch.cat((to_prompt, to_own.view(*grouped.shape[:2], -1)), dim=-1).softmax(-1)
        mixed = torch.bmm(weights[..., :length], prompt[1])
        mixed = torch.baddbmm(mixed.view(single.shape), weights[..., length:].view(*single.shape[:2], -1), values)
        mixed = mixed.view(self._kv, count, group, heads // self._kv, dim).permute(1, 2, 0, 3, 4)
        return mixed.reshape(count * group, heads * dim)
