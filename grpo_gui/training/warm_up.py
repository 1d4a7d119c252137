"""Loads torch before it is needed: importing it costs seconds, the first optimizer about as much again."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TorchState:
    """What the window says about torch: its version, and the names of the devices beside the processor."""

    version: str
    devices: tuple[str, ...]


def warm_up() -> TorchState:
    """Import torch and the trainer and take one optimizer step, so that the first run starts at once.

    Takes seconds: call it off the GUI thread.
    """
    import torch

    import grpo_gui.training.trainer  # noqa: F401 - imported here so that the first run need not wait for it

    torch.set_num_threads(1)
    weights = torch.nn.Parameter(torch.zeros(2, 2))
    optimizer = torch.optim.AdamW([weights])
    torch.autograd.backward(weights.exp().sum())
    optimizer.step()
    devices = [f"cuda:{index}" for index in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    if torch.backends.mps.is_available():
        devices.append("mps")
    return TorchState(torch.__version__.partition("+")[0], tuple(devices))
