"""Templates of accelerate's config file, which lies beside the job: the user can see and change it."""

from grpo_gui.handover.placement import Placement

NAME = "accelerate.yaml"

_HEAD = """\
# Read by: accelerate launch --config_file {name}. Change what you like before the start.
# How many processes and machines there are stands in the command, which goes before this file.
compute_environment: LOCAL_MACHINE
distributed_type: {kind}
mixed_precision: "{precision}"
num_machines: {machines}
num_processes: {processes}
machine_rank: 0
rdzv_backend: {rendezvous}
main_training_function: main
use_cpu: false
"""
_FSDP = """\
fsdp_config:
  fsdp_version: 2
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_reshard_after_forward: true
  fsdp_cpu_ram_efficient_loading: true
  fsdp_offload_params: false
  fsdp_activation_checkpointing: false
  fsdp_state_dict_type: FULL_STATE_DICT
"""
_DEEPSPEED = """\
deepspeed_config:
  zero_stage: 2
  offload_optimizer_device: none
  offload_param_device: none
  zero3_init_flag: false
  deepspeed_multinode_launcher: standard
"""
_KINDS = {"ddp": "MULTI_GPU", "fsdp": "FSDP", "deepspeed": "DEEPSPEED"}
_MORE = {"ddp": "gpu_ids: all\n", "fsdp": _FSDP, "deepspeed": _DEEPSPEED}


def template(place: Placement, *, bf16: bool) -> str:
    """The file for a placement whose `uses_accelerate` is true."""
    head = _HEAD.format(
        name=NAME,
        kind=_KINDS[place.sharing],
        precision="bf16" if bf16 else "no",
        machines=place.machines,
        processes=place.world_size,
        rendezvous="static" if place.machines == 1 else "c10d",
    )
    return head + _MORE[place.sharing]
