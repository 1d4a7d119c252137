import sys
from pathlib import Path

from grpo_gui.handover.commands import local_command, shown_commands
from grpo_gui.handover.placement import Placement

FOLDER = Path("/data/my runs/00007/trl")


def test_that_one_process_needs_no_launcher():
    assert local_command(FOLDER, Placement()) == [sys.executable, "-m", "grpo_gui.handover.run_job", str(FOLDER)]


def test_that_several_processes_are_started_by_torchrun():
    command = local_command(FOLDER, Placement(4))
    assert command[1:6] == ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "4"]
    assert command[-3:] == ["-m", "grpo_gui.handover.run_job", str(FOLDER)]


def test_that_accelerate_reads_the_file_beside_the_job():
    command = local_command(FOLDER, Placement(4, sharing="deepspeed"))
    assert command[2:5] == ["accelerate.commands.launch", "--config_file", str(FOLDER / "accelerate.yaml")]
    assert command[5:9] == ["--num_processes", "4", "--num_machines", "1"]


def test_that_the_command_for_several_machines_can_be_pasted_on_each_of_them():
    (command,) = shown_commands(FOLDER, Placement(8, 2, host="gpu-a"))
    assert command == (
        "torchrun --nnodes 2 --nproc_per_node 8 --rdzv_backend c10d --rdzv_endpoint gpu-a:29500 --rdzv_id 00007 "
        "-m grpo_gui.handover.run_job '/data/my runs/00007/trl'"
    )


def test_that_accelerate_has_a_command_for_each_machine():
    first, second = shown_commands(FOLDER, Placement(8, 2, "fsdp", "gpu-a"))
    assert "--num_processes 16 --num_machines 2 --machine_rank 0 --main_process_ip gpu-a" in first
    assert first.replace("--machine_rank 0", "--machine_rank 1") == second
