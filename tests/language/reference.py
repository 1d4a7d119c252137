"""Slow, obvious formulations that the fast paths are compared with."""

import torch
from torch import Tensor

from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.decoder import Decoder

SMALL = DecoderConfig(hidden_size=32, intermediate_size=48, num_hidden_layers=2, head_dim=8)
SPREAD = 4.0  # weights this many times larger than fresh ones give distributions far from uniform


def random_decoder(config: DecoderConfig = SMALL, seed: int = 0) -> Decoder:
    """A decoder whose distributions differ from token to token."""
    generator = torch.Generator().manual_seed(seed)
    decoder = Decoder(config)
    decoder.initialize(generator)
    with torch.no_grad():
        for parameter in decoder.parameters():
            if parameter.dim() == 2:
                parameter.mul_(SPREAD)
            else:
                parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    return decoder


def plain_logps(
    decoder: Decoder, prompts: list[list[int]], completions: Tensor, lengths: Tensor, temperature: float = 1.0
) -> tuple[Tensor, Tensor]:
    """Log-probabilities and entropies (P * G, T), one completion after the other; 0 behind each end."""
    group = len(completions) // len(prompts)
    logps, entropies = [], []
    for row, (ids, length) in enumerate(zip(completions.tolist(), lengths.tolist(), strict=True)):
        prompt = prompts[row // group]
        logits = decoder(torch.tensor([prompt + ids[:length]]))[0, len(prompt) - 1 : -1] / temperature
        distribution = logits.log_softmax(-1)
        chosen = distribution.gather(-1, torch.tensor(ids[:length]).unsqueeze(-1)).squeeze(-1)
        behind = torch.zeros(completions.shape[1] - length)
        logps.append(torch.cat((chosen, behind)))
        entropies.append(torch.cat((-(distribution.exp() * distribution).sum(-1), behind)))
    return torch.stack(logps), torch.stack(entropies).detach()
