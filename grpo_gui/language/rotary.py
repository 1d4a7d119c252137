"""Rotary positions in Llama's half-split form (arXiv 2104.09864, eq. 34)."""

import math

import torch
from torch import Tensor

from grpo_gui.language.config import DecoderConfig


def rotary_tables(config: DecoderConfig, positions: Tensor) -> tuple[Tensor, Tensor]:
    """Cosines and sines for each position: two float32 tensors (*positions.shape, head_dim)."""
    angles = positions.float().unsqueeze(-1) * _frequencies(config, positions.device)
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos(), angles.sin()


def rotate(values: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Turn queries or keys (..., head_dim) to their positions; the tables must broadcast to `values`."""
    first, second = values.chunk(2, dim=-1)
    turned = torch.cat((-second, first), dim=-1)
    return values * cosines + turned * sines


def rotate_quickly(values: Tensor, cosines: Tensor, sines: Tensor, direction: float = 1.0) -> Tensor:
    """The same as `rotate` in half the passes, but without gradients; direction -1 turns back."""
    half = values.shape[-1] // 2
    turned = values * cosines
    turned[..., :half].addcmul_(values[..., half:], sines[..., :half], value=-direction)
    turned[..., half:].addcmul_(values[..., :half], sines[..., half:], value=direction)
    return turned


def _frequencies(config: DecoderConfig, device: torch.device) -> Tensor:
    exponents = torch.arange(0, config.head_dim, 2, dtype=torch.float32, device=device) / config.head_dim
    frequencies = 1.0 / (config.rope_theta**exponents)
    scaling = config.rope_scaling
    if scaling is None:
        return frequencies
    # Llama 3: keep short waves, divide the frequency of long ones, blend in between
    waves = scaling.original_max_position_embeddings * frequencies / (2 * math.pi)  # turns within the old context
    span = scaling.high_freq_factor - scaling.low_freq_factor
    kept = ((waves - scaling.low_freq_factor) / span).clamp(0.0, 1.0)
    return kept * frequencies + (1 - kept) * frequencies / scaling.factor
