"""The parts of a decoder layer that work on flat rows, shared by sampling and training."""

from typing import NamedTuple, cast

import torch
from torch import Tensor

from grpo_gui.language.decoder import Decoder, Layer
from grpo_gui.language.kernels import gated, linear, packed_for_reuse, rms_norm


class LayerWeights(NamedTuple):
    """The matrices (out, in) and norms of one layer; `joint` makes queries, keys and values in one product."""

    input_norm: Tensor
    joint: Tensor  # ((heads + 2 kv_heads) * head_dim, hidden)
    output: Tensor
    mlp_norm: Tensor
    gate: Tensor
    up: Tensor
    down: Tensor


def weights_of(decoder: Decoder) -> list[LayerWeights]:
    """The weights of the decoder's layers in order; gradients reach the parameters."""
    return [_weights(cast(Layer, layer)) for layer in decoder.model.layers]


def weights_for_sampling(decoder: Decoder) -> list[LayerWeights]:
    """The same weights in the order that is fastest for few rows; no gradients."""
    return [
        layer._replace(
            joint=packed_for_reuse(layer.joint),
            output=packed_for_reuse(layer.output),
            gate=packed_for_reuse(layer.gate),
            up=packed_for_reuse(layer.up),
            down=packed_for_reuse(layer.down),
        )
        for layer in weights_of(decoder)
    ]


def project_heads(hidden: Tensor, layer: LayerWeights, decoder: Decoder) -> Tensor:
    """Queries, keys and values (N, heads + 2 kv_heads, head_dim) of hidden states (N, hidden)."""
    config = decoder.config
    joint = linear(rms_norm(hidden, layer.input_norm, config.rms_norm_eps), layer.joint)
    return joint.view(len(hidden), -1, config.head_dim)


def finish_layer(hidden: Tensor, mixed: Tensor, layer: LayerWeights, decoder: Decoder) -> Tensor:
    """The rest of a layer behind its attention: `mixed` (N, heads * head_dim) are the heads' mixed values."""
    hidden = hidden + linear(mixed, layer.output)
    rows = rms_norm(hidden, layer.mlp_norm, decoder.config.rms_norm_eps)
    return hidden + linear(gated(rows, layer.gate, layer.up), layer.down)


def project_vocabulary(hidden: Tensor, decoder: Decoder) -> Tensor:
    """Logits (N, vocabulary) of the last layer's hidden states (N, hidden)."""
    rows = rms_norm(hidden, decoder.model.norm.weight, decoder.config.rms_norm_eps)
    return linear(rows, decoder.head_weight)


def _weights(layer: Layer) -> LayerWeights:
    attention, mlp = layer.self_attn, layer.mlp
    return LayerWeights(
        input_norm=layer.input_layernorm.weight,
        joint=torch.cat((attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight)),
        output=attention.o_proj.weight,
        mlp_norm=layer.post_attention_layernorm.weight,
        gate=mlp.gate_proj.weight,
        up=mlp.up_proj.weight,
        down=mlp.down_proj.weight,
    )
