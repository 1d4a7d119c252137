"""Log-probabilities of groups with every prompt computed once: the training forward, and the reference's."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from grpo_gui.grpo.entropy import token_entropy
from grpo_gui.language.attention import GroupAttention
from grpo_gui.language.decoder import Decoder
from grpo_gui.language.layers import finish_layer, project_heads, project_vocabulary, weights_of
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
    logits = project_vocabulary(_predicting_hidden(decoder, layout), decoder).float()
    if temperature not in (0.0, 1.0):
        logits = logits / temperature
    # the rows: each completion's first token (predicted by its prompt's end), then all the others
    following = F.pad(completions[:, 1:], (0, 1))[:, : layout.completions.width]
    targets = torch.cat((completions[:, 0], layout.completions.flat(following)))
    logps = logits.log_softmax(-1)
    chosen = logps.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    entropy = _spread(token_entropy(logps), layout, completions.shape) if with_entropy else None
    return _spread(chosen, layout, completions.shape), entropy


def _predicting_hidden(decoder: Decoder, layout: GroupLayout) -> Tensor:
    """Last hidden states that predict completion tokens: P * G first ones, then the completions' flat rows."""
    hidden = decoder.model.embed_tokens(layout.ids)
    attend = GroupAttention.of(layout, decoder.config, hidden.dtype)
    layers = weights_of(decoder)
    for layer in layers:
        mixed = attend(project_heads(hidden, layer, decoder))
        if layer is layers[-1]:  # behind the last attention only the rows that predict are of use
            hidden, mixed = hidden.index_select(0, layout.predicting), mixed.index_select(0, layout.predicting)
        hidden = finish_layer(hidden, mixed, layer, decoder)
    first, rest, _ = torch.split(hidden, [layout.prompts.count, layout.completions.rows, layout.spare])
    return torch.cat((first.repeat_interleave(layout.group_size, dim=0), rest))


def _spread(values: Tensor, layout: GroupLayout, shape: torch.Size) -> Tensor:
    """Values of the head's rows (firsts, then the flat rest) as (P * G, T), 0 behind each end."""
    first, rest = torch.split(values, [shape[0], layout.completions.rows])
    columns = torch.cat((first.unsqueeze(1), layout.completions.dense(rest)), dim=1)
    return F.pad(columns, (0, shape[1] - columns.shape[1]))  # a negative padding cuts
