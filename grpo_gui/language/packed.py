"""Log-probabilities of groups with every prompt computed once: the training forward, and the reference's."""

from collections.abc import Sequence

import torch
from torch import Tensor

from grpo_gui.grpo.entropy import token_entropy
from grpo_gui.language.attention import attend_completions, attend_prompts, completion_mask
from grpo_gui.language.decoder import Decoder, Layer
from grpo_gui.language.kernels import linear
from grpo_gui.language.layers import feed_forward, layers_of, norm, project_heads
from grpo_gui.language.layout import GroupLayout, lay_out
from grpo_gui.language.rotary import rotary_tables, rotate


def packed_logps(
    decoder: Decoder,
    prompts: Sequence[Sequence[int]],
    completions: Tensor,
    lengths: Tensor,
    *,
    temperature: float,
    with_entropy: bool,
) -> tuple[Tensor, Tensor | None]:
    """Log-probabilities (P * G, T) of completions, and the entropy; see `Policy.logps` for the arguments."""
    layout = lay_out(prompts, completions, lengths)
    logits = linear(_completion_hidden(decoder, layout), decoder.head_weight).float()
    if temperature not in (0.0, 1.0):
        logits = logits / temperature
    # the rows: each completion's first token (predicted by its prompt's end), then all the others
    targets = torch.cat((completions[:, 0], layout.completions.flat(completions[:, 1 : layout.completions.width + 1])))
    logps = logits.log_softmax(-1)
    chosen = logps.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    entropy = _spread(token_entropy(logps), layout, completions.shape) if with_entropy else None
    return _spread(chosen, layout, completions.shape), entropy


def _completion_hidden(decoder: Decoder, layout: GroupLayout) -> Tensor:
    """Last hidden states that predict completion tokens: P * G first ones, then the completions' flat rows."""
    config = decoder.config
    tables = rotary_tables(config, layout.positions)
    hidden = decoder.model.embed_tokens(layout.ids)
    tables = (tables[0].unsqueeze(1).to(hidden.dtype), tables[1].unsqueeze(1).to(hidden.dtype))
    mask = completion_mask(layout, hidden.dtype)
    for layer in layers_of(decoder):
        hidden = _layer(hidden, layer, layout, tables, mask, decoder)
    first = hidden.index_select(0, layout.last_rows).repeat_interleave(layout.group_size, dim=0)
    rest = hidden.narrow(0, layout.prompts.rows, layout.completions.rows)
    return norm(torch.cat((first, rest)), decoder.model.norm.weight, config)


def _layer(
    hidden: Tensor, layer: Layer, layout: GroupLayout, tables: tuple[Tensor, Tensor], mask: Tensor, decoder: Decoder
) -> Tensor:
    config = decoder.config
    queries, keys, values = project_heads(norm(hidden, layer.input_layernorm.weight, config), layer)
    queries, keys = rotate(queries, *tables), rotate(keys, *tables)
    parts = [layout.prompts.rows, layout.completions.rows, layout.filler]
    prompt_q, own_q, rest = torch.split(queries, parts)
    prompt_k, own_k, _ = torch.split(keys, parts)
    prompt_v, own_v, _ = torch.split(values, parts)
    prompt_k, prompt_v = layout.prompts.dense(prompt_k), layout.prompts.dense(prompt_v)
    mixed = layout.prompts.flat(attend_prompts(layout.prompts.dense(prompt_q), prompt_k, prompt_v))
    own_q, own_k, own_v = (layout.completions.dense(part) for part in (own_q, own_k, own_v))
    own = attend_completions(own_q, own_k, own_v, prompt_k, prompt_v, mask)
    mixed = torch.cat((mixed, layout.completions.flat(own), rest)).view(len(hidden), -1)
    hidden = hidden + linear(mixed, layer.self_attn.o_proj.weight)
    return hidden + feed_forward(norm(hidden, layer.post_attention_layernorm.weight, config), layer)


def _spread(values: Tensor, layout: GroupLayout, shape: torch.Size) -> Tensor:
    """Values of the head's rows (firsts, then the flat rest) as (P * G, T), 0 behind each end."""
    first, rest = torch.split(values, [shape[0], layout.completions.rows])
    width = layout.completions.width
    place = layout.completions.place
    if place is not None:
        rest = values.new_zeros(shape[0] * width).index_put((place,), rest)
    columns = (first.unsqueeze(1), rest.view(shape[0], width), values.new_zeros(shape[0], shape[1] - width - 1))
    return torch.cat(columns, dim=1)
