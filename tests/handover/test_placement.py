from dataclasses import replace

import pytest

from grpo_gui.handover.placement import Placement, problems
from grpo_gui.training.config import TrainConfig

CPU = TrainConfig(device="cpu")


def test_that_one_process_has_nothing_against_the_default_run():
    assert problems(CPU, Placement()) == []


def test_that_completions_must_be_shared_evenly():
    (sentence,) = problems(CPU, Placement(processes=3))
    assert "64 completions a step (8 prompts × 8) cannot be shared evenly by 3 processes" in sentence


def test_that_the_processes_of_all_machines_count():
    assert problems(replace(CPU, prompts_per_step=3, num_generations=2), Placement(2, machines=2, host="a"))
    assert not problems(replace(CPU, prompts_per_step=6, num_generations=2), Placement(2, machines=2, host="a"))


@pytest.mark.parametrize(("host", "part"), [("", "address of the first one"), ("two words", "is no address")])
def test_that_several_machines_need_an_address(host, part):
    assert part in problems(CPU, Placement(2, machines=2, host=host))[0]


@pytest.mark.parametrize("place", [Placement(processes=0), Placement(machines=0), Placement(sharing="magic")])
def test_that_numbers_and_words_which_mean_nothing_are_refused(place):
    assert len(problems(CPU, place)) == 1


def test_that_a_gguf_file_and_an_adapter_are_refused(tmp_path):
    assert "GGUF" in problems(replace(CPU, model="a/b.gguf"), Placement())[0]
    (tmp_path / "adapter_config.json").write_text("{}")
    assert "grpo-gui export" in problems(replace(CPU, model=str(tmp_path)), Placement())[0]


def test_that_accelerate_needs_graphics_cards():
    assert "choose torchrun" in problems(CPU, Placement(2, sharing="fsdp"))[0]
    auto = replace(CPU, device="auto")
    assert "choose torchrun" in problems(auto, Placement(2, sharing="ddp"), ("cpu",))[0]
    assert problems(auto, Placement(2, sharing="ddp"), ("cuda:0", "cuda:1")) == []


def test_that_one_card_is_no_place_for_two_processes():
    assert "one graphics card" in problems(replace(CPU, device="cuda:1"), Placement(2))[0]
    assert "1 graphics card" in problems(replace(CPU, device="auto"), Placement(2), ("cuda:0",))[0]
