"""Where a run computes: choosing the device, its name, its memory and load, and running out of memory."""

import os
import platform
from contextlib import AbstractContextManager, nullcontext, suppress

import psutil
import torch

from grpo_gui.errors import BadInputError
from grpo_gui.training.config import TrainConfig


def choose_device(name: str) -> torch.device:
    """Return the device that `auto`, `cpu`, `mps`, `cuda` or `cuda:N` stands for on this machine.

    `auto` is the first CUDA device, else the processor: models small enough for a machine without CUDA
    are as fast there as on mps.

    Raises:
        BadInputError: this machine has no such device.
    """
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        return torch.device("cuda:0" if count else "cpu")
    device = torch.device("cuda:0" if name == "cuda" else name)
    if device.type == "cuda" and (device.index or 0) >= count:
        has = (
            "no CUDA device"
            if not count
            else f"only {count} CUDA device{'s' if count > 1 else ''} (cuda:0 is the first)"
        )
        raise BadInputError(f"The device {name} is not there: this machine has {has}. Choose another, or auto.")
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise BadInputError("The device mps is not there: it needs a Mac with Apple silicon. Choose cpu or auto.")
    return device


def check_bf16(device: torch.device, *, bf16: bool) -> None:
    """Refuse bf16 where it is of no use.

    Raises:
        BadInputError: bf16 is wanted and the device is not a CUDA device that has it.
    """
    if bf16 and not (device.type == "cuda" and torch.cuda.is_bf16_supported()):
        raise BadInputError(f"bf16 needs a CUDA device that supports it, and this run uses {device}; turn bf16 off.")


def make_repeatable(device: torch.device) -> None:
    """Let CUDA take the algorithms that give the same numbers each time, where it has them.

    On the processor they do so anyway. Holds for the whole process, and must come before its first CUDA product.
    """
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True, warn_only=True)
        # Filling fresh memory costs time, and nothing here reads such memory. (mypy: the module is made at run time.)
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def autocast(device: torch.device, *, bf16: bool) -> AbstractContextManager[None]:
    """Return a context in which matrix products are done in bf16 when wanted."""
    if not bf16:
        return nullcontext()
    return torch.autocast(device.type, dtype=torch.bfloat16)


def device_label(device: torch.device) -> str:
    """Return the device as torch names it, with the name of the graphics card."""
    if device.type == "cuda":
        return f"{device} ({torch.cuda.get_device_name(device)})"
    return str(device)


def system_metrics(device: torch.device) -> dict[str, float]:
    """Return memory (GB, the most since the last call) and load (percent) of a CUDA device; empty for others.

    The load is left out without the package nvidia-ml-py (the extra `gpu`).
    """
    if device.type != "cuda":
        return {}
    metrics = {"system/gpu_memory_gb": torch.cuda.max_memory_allocated(device) / 1e9}
    torch.cuda.reset_peak_memory_stats(device)
    with suppress(ModuleNotFoundError, RuntimeError):
        metrics["system/gpu_load_percent"] = float(torch.cuda.utilization(device))
    return metrics


def free_memory_bytes(device: torch.device) -> int:
    """Return the memory that a run can still take on this device."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return int(psutil.virtual_memory().available)


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error means that memory ran out, on any device."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    text = str(error)
    return isinstance(error, RuntimeError) and (
        "out of memory" in text or "can't allocate memory" in text or "not enough memory" in text
    )


def out_of_memory_sentence(config: TrainConfig, device: torch.device, where: str) -> str:
    """Return what to tell the user when memory ran out; `where` completes "ran out ...", as in "in step 3"."""
    prompts = config.micro_batch_prompts or config.prompts_per_step
    return (
        f"Memory on {device} ran out {where}. Free memory and press Resume to try again, or start a "
        f"run with a lower micro_batch_prompts (now {prompts}), num_generations (now {config.num_generations}) or "
        f"max_completion_length (now {config.max_completion_length})."
    )


def versions() -> tuple[tuple[str, str], ...]:
    """Return the versions that the numbers of a run depend on."""
    from importlib.metadata import PackageNotFoundError, version

    found = [("python", platform.python_version()), ("torch", torch.__version__)]
    for package in ("numpy", "tokenizers", "safetensors"):
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return tuple(found)
