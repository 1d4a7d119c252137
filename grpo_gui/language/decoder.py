"""A Llama-shaped decoder in plain torch: the obvious formulation, against which the fast paths are tested."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.rotary import rotary_tables, rotate

_INITIAL_STD = 0.02  # of Llama's own initialisation


class RMSNorm(nn.Module):
    """Divide each row by its root mean square, then scale per feature (arXiv 1910.07467, eq. 4)."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, hidden: Tensor) -> Tensor:
        """Normalise (..., size); computed in float32 as transformers does."""
        wide = hidden.float()
        scaled = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * scaled.to(hidden.dtype)


class Attention(nn.Module):
    """Causal self-attention in which several query heads may share one key-value head."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.kv_heads = config.num_key_value_heads
        self.head_dim = config.head_dim
        self.q_proj = nn.Linear(config.hidden_size, self.heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, self.kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, self.kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.head_dim, config.hidden_size, bias=False)

    def forward(self, hidden: Tensor, tables: tuple[Tensor, Tensor], mask: Tensor | None) -> Tensor:
        """Attend within (B, T, hidden); `tables` (B or 1, T, head_dim), `mask` (B or 1, 1, T, T) or None for causal."""
        batch, length, _ = hidden.shape
        queries = self.q_proj(hidden).view(batch, length, self.heads, self.head_dim).transpose(1, 2)
        keys = self.k_proj(hidden).view(batch, length, self.kv_heads, self.head_dim).transpose(1, 2)
        values = self.v_proj(hidden).view(batch, length, self.kv_heads, self.head_dim).transpose(1, 2)
        cosines, sines = (table.unsqueeze(1).to(hidden.dtype) for table in tables)
        queries, keys = rotate(queries, cosines, sines), rotate(keys, cosines, sines)
        shared = self.heads // self.kv_heads
        keys, values = keys.repeat_interleave(shared, dim=1), values.repeat_interleave(shared, dim=1)
        mixed = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, is_causal=mask is None)
        attended: Tensor = self.o_proj(mixed.transpose(1, 2).reshape(batch, length, self.heads * self.head_dim))
        return attended


class MLP(nn.Module):
    """The gated feed-forward part (SwiGLU, arXiv 2002.05202)."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        """Map (..., hidden) to (..., hidden)."""
        mapped: Tensor = self.down_proj(F.silu(self.gate_proj(hidden)) * self.up_proj(hidden))
        return mapped


class Layer(nn.Module):
    """One decoder layer: attention and feed-forward, each behind a norm and with a residual."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = MLP(config)

    def forward(self, hidden: Tensor, tables: tuple[Tensor, Tensor], mask: Tensor | None) -> Tensor:
        """Map (B, T, hidden) to (B, T, hidden); see Attention for `tables` and `mask`."""
        hidden = hidden + self.self_attn(self.input_layernorm(hidden), tables, mask)
        widened: Tensor = hidden + self.mlp(self.post_attention_layernorm(hidden))
        return widened


class Trunk(nn.Module):
    """Embedding, layers and last norm; named `model` in Hugging Face's state dict."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)


class Decoder(nn.Module):
    """Token ids to logits; the state dict has Hugging Face's Llama names (no lm_head.weight when tied)."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.model = Trunk(config)
        if not config.tie_word_embeddings:
            self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    @property
    def head_weight(self) -> Tensor:
        """The output matrix (vocabulary, hidden): the embedding itself when tied."""
        return self.model.embed_tokens.weight if self.config.tie_word_embeddings else self.lm_head.weight

    def initialize(self, generator: torch.Generator) -> None:
        """Draw fresh weights: normal with std 0.02, norms at one."""
        with torch.no_grad():
            for parameter in self.parameters():
                if parameter.dim() == 1:
                    parameter.fill_(1.0)
                else:
                    parameter.normal_(0.0, _INITIAL_STD, generator=generator)

    def forward(self, ids: Tensor, *, positions: Tensor | None = None, attention_mask: Tensor | None = None) -> Tensor:
        """Logits (B, T, vocabulary) of `ids` (B, T): those at t predict the token at t + 1.

        Args:
            ids: token ids (B, T).
            positions: the place of each token in its own text, (B, T) or (T,); None: 0 .. T-1.
            attention_mask: bool (B, T, T) or (T, T), True where the query (first T) sees the key (second T).
                Every query must see itself at least. None: causal.
        """
        if positions is None:
            positions = torch.arange(ids.shape[1], device=ids.device)
        tables = rotary_tables(self.config, positions if positions.dim() == 2 else positions.unsqueeze(0))
        mask = None
        if attention_mask is not None:
            mask = attention_mask.view(-1, 1, ids.shape[1], ids.shape[1])
        hidden = self.model.embed_tokens(ids)
        for layer in self.model.layers:
            hidden = layer(hidden, tables, mask)
        return F.linear(self.model.norm(hidden), self.head_weight)
