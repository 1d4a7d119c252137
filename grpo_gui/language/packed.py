"""Log-probabilities of groups with every prompt computed once: the training forward, and the reference's."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from grpo_gui.grpo.entropy import token_entropy
from grpo_gui.language.attention import GroupAttention
from grpo_gui.language.decoder import Decoder
from grpo_gui.language.kernels import linear
from grpo_gui.language.layers import feed_forward, joint_weight, layers_of, norm
from grpo_gui.language.layout import GroupLayout, lay_out


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
    following = F.pad(completions[:, 1:], (0, 1))[:, : layout.completions.width]
    targets = torch.cat((completions[:, 0], layout.completions.flat(following)))
    logps = logits.log_softmax(-1)
    chosen = logps.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    entropy = _spread(token_entropy(logps), layout, completions.shape) if with_entropy else None
    return _spread(chosen, layout, completions.shape), entropy


def _completion_hidden(decoder: Decoder, layout: GroupLayout) -> Tensor:
    """Last hidden states that predict completion tokens: P * G first ones, then the completions' flat rows."""
    config = decoder.config
    hidden = decoder.model.embed_tokens(layout.ids)
    attend = GroupAttention.of(layout, config, hidden.dtype)
    for layer in layers_of(decoder):
        joint = linear(norm(hidden, layer.input_layernorm.weight, config), joint_weight(layer))
        mixed = attend(joint.view(len(hidden), -1, config.head_dim))
        hidden = hidden + linear(mixed, layer.self_attn.o_proj.weight)
        hidden = hidden + feed_forward(norm(hidden, layer.post_attention_layernorm.weight, config), layer)
    first = hidden.index_select(0, layout.last_rows).repeat_interleave(layout.group_size, dim=0)
    rest = hidden.narrow(0, layout.prompts.rows, layout.completions.rows)
    return norm(torch.cat((first, rest)), decoder.model.norm.weight, config)


def _spread(values: Tensor, layout: GroupLayout, shape: torch.Size) -> Tensor:
    """Values of the head's rows (firsts, then the flat rest) as (P * G, T), 0 behind each end."""
    first, rest = torch.split(values, [shape[0], layout.completions.rows])
    columns = torch.cat((first.unsqueeze(1), layout.completions.dense(rest)), dim=1)
    return F.pad(columns, (0, shape[1] - columns.shape[1]))  # a negative padding cuts
