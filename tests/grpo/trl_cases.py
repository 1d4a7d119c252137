"""Reads the cases that TRL 1.16.0 computed in float64 (see the json for versions and layout)."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from grpo_gui.grpo import LossConfig

FOLDER = Path(__file__).parent / "cases"
ELSEWHERE = ("luspo", "sapo", "vespo")  # loss types that this project does not have


@dataclass(frozen=True)
class Case:
    """One case; rows are prompt-major, `old` is None on-policy, `ref` is None where TRL computes no KL."""

    id: str
    raw: dict
    config: LossConfig
    cur: np.ndarray
    old: np.ndarray | None
    ref: np.ndarray | None
    mask: np.ndarray
    entropy: np.ndarray
    rewards: np.ndarray  # (P, G, F)
    advantages: np.ndarray
    grad: np.ndarray


@cache
def arrays() -> dict[str, np.ndarray]:
    with np.load(FOLDER / "grpo_loss_cases.npz") as archive:
        return dict(archive)


def _case(raw: dict, case_id: str) -> Case:
    options, data = raw["config"], f"data/{raw['data']}"
    config = LossConfig(
        loss_type=options["loss_type"],
        importance_sampling_level=options["importance_sampling_level"],
        epsilon=options["epsilon"],
        epsilon_high=options["epsilon_high"],
        delta=options["delta"],
        beta=options["beta"],
        use_bias_correction_kl=options["use_bias_correction_kl"],
        max_completion_length=raw["max_completion_length"],
    )
    return Case(
        id=case_id,
        raw=raw,
        config=config,
        cur=arrays()[f"{data}/cur"],
        old=None if raw["old_is_none"] else arrays()[f"{data}/old"],
        ref=arrays()[f"{data}/ref"] if options["beta"] else None,
        mask=arrays()[f"{data}/mask"],
        entropy=arrays()[f"{data}/ent"],
        rewards=arrays()[f"{data}/rewards"].reshape(raw["P"], raw["G"], -1),
        advantages=arrays()[f"case/{case_id}/adv"].reshape(-1),
        grad=arrays()[f"case/{case_id}/grad"],
    )


@cache
def all_cases() -> dict[str, dict]:
    return {raw["id"]: raw for raw in json.loads((FOLDER / "grpo_loss_cases.json").read_text())["cases"]}


def our_cases() -> list[Case]:
    """The cases whose options this project has."""
    return [_case(raw, raw["id"]) for raw in all_cases().values() if _is_ours(raw["config"])]


def micro_batch_cases() -> list[Case]:
    """The cases in which TRL accumulated the gradient over two micro-batches of equal size."""
    micro = {key.removeprefix("case/").removesuffix("/grad") for key in arrays() if key.endswith("/micro2/grad")}
    return [_case(all_cases()[case_id.removesuffix("/micro2")], case_id) for case_id in sorted(micro)]


def _is_ours(options: dict) -> bool:
    unused = options["top_entropy_quantile"] == 1 and options["off_policy_mask_threshold"] is None
    return options["loss_type"] not in ELSEWHERE and unused
