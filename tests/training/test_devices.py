import os

import pytest
import torch

from grpo_gui.errors import BadInputError
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.devices import (
    autocast,
    check_bf16,
    choose_device,
    is_out_of_memory,
    make_repeatable,
    out_of_memory_sentence,
    system_metrics,
)

CPU = torch.device("cpu")


@pytest.fixture
def cuda_devices(monkeypatch):
    def pretend(count: int) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)

    return pretend


def test_that_auto_takes_the_first_cuda_device_or_the_processor(cuda_devices):
    cuda_devices(0)
    assert choose_device("auto") == CPU
    cuda_devices(2)
    assert choose_device("auto") == torch.device("cuda:0")
    assert choose_device("cuda") == torch.device("cuda:0")
    assert choose_device("cuda:1") == torch.device("cuda:1")


@pytest.mark.parametrize(
    ("count", "words"), [(0, "no CUDA device"), (1, "only 1 CUDA device"), (2, "only 2 CUDA devices")]
)
def test_that_a_device_that_is_not_there_is_named_with_what_is(cuda_devices, count: int, words: str):
    cuda_devices(count)
    with pytest.raises(BadInputError, match=words):
        choose_device("cuda:2")


def test_that_mps_is_refused_where_there_is_none(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(BadInputError, match="Apple"):
        choose_device("mps")


def test_that_bf16_is_refused_on_the_processor():
    check_bf16(CPU, bf16=False)
    with pytest.raises(BadInputError, match="bf16"):
        check_bf16(CPU, bf16=True)


def test_that_autocast_is_on_only_when_wanted():
    rows = torch.ones(2, 2)
    with autocast(CPU, bf16=False):
        assert (rows @ rows).dtype is torch.float32
    with autocast(CPU, bf16=True):
        assert (rows @ rows).dtype is torch.bfloat16


def test_that_cuda_is_asked_for_repeatable_numbers(monkeypatch):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    monkeypatch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", True)
    asked = []
    monkeypatch.setattr(torch, "use_deterministic_algorithms", lambda mode, warn_only: asked.append((mode, warn_only)))
    make_repeatable(CPU)
    assert asked == []
    make_repeatable(torch.device("cuda:0"))
    assert asked == [(True, True)]
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"


def test_that_the_processor_has_no_graphics_memory_to_report():
    assert system_metrics(CPU) == {}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (torch.OutOfMemoryError("CUDA out of memory."), True),
        (MemoryError(), True),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
            True,
        ),
        (RuntimeError("MPS backend out of memory (MPS allocated: 1 GB)"), True),
        (RuntimeError("shape '[2]' is invalid"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_that_running_out_of_memory_is_recognised(error: Exception, expected: bool):
    assert is_out_of_memory(error) is expected


def test_that_the_sentence_names_what_to_lower():
    sentence = out_of_memory_sentence(TrainConfig(micro_batch_prompts=2), CPU, "in step 5")
    assert "step 5" in sentence
    assert "micro_batch_prompts (now 2)" in sentence
