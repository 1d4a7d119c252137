import pytest
import torch

from grpo_gui.grpo import METRICS, LossConfig, definition_of, grpo_loss, rollout_metrics

FACTS = [
    "loss",
    "policy_loss",
    "kl",
    "entropy",
    "grad_norm",
    "learning_rate",
    "reward",
    "reward_std",
    "reward_group_std",
    "frac_reward_zero_std",
    "completions/mean_length",
    "completions/min_length",
    "completions/max_length",
    "completions/clipped_ratio",
    "completions/mean_terminated_length",
    "clip_ratio/low_mean",
    "clip_ratio/high_mean",
    "clip_ratio/region_mean",
    "clip_ratio/low_min",
    "clip_ratio/high_max",
    "cispo_clip_ratio",
    "num_tokens",
    "step_time",
    "advantage/mean",
    "advantage/std",
    "advantage/min",
    "advantage/max",
    "dead_groups/all_right",
    "dead_groups/all_wrong",
    "dead_groups/other",
    "kl/max",
    "check/first_ratio",
    "check/mask_tokens",
    "check/end_in_mask",
    "check/weights_change",
    "ratio/min",
    "ratio/max",
    "time/rollout",
    "time/reward",
    "time/logps",
    "time/update",
    "time/store",
    "tokens_per_second",
    "eval/reward",
    "eval/accuracy",
    "system/gpu_memory_gb",
    "system/gpu_load_percent",
    "system/memory_gb",
    "system/memory_free_gb",
    "system/disk_free_gb",
    "system/write_ms",
    "snapshot/size_gb",
    "snapshot/weights_change",
    "snapshot/reload_error",
    "ratings/used",
    "ratings/waiting",
    "ratings/expired",
    "ratings/trust",
    "ratings/late_ratio",
    "ratings/late_clipped",
    "ratings/audit_tau",
    "ratings/retest",
    "ratings/seconds",
    "ratings/slot",
    "ratings/slots",
    "ratings/key",
]


@pytest.mark.parametrize("name", FACTS)
def test_that_every_metric_is_defined(name):
    definition = METRICS[name]
    assert definition.name == name
    assert definition.label
    assert definition.tooltip.endswith((f"TRL name: {name}.", f"Name: {name} (not in TRL)."))
    assert definition.definition_id.startswith(f"grpo-gui/{name}/")


def test_that_no_metric_is_defined_that_nobody_knows():
    assert set(METRICS) == set(FACTS)
    assert len({definition.definition_id for definition in METRICS.values()}) == len(METRICS)


@pytest.mark.parametrize("loss_type", ["grpo", "cispo"])
def test_that_everything_that_is_measured_has_a_definition(loss_type):
    ones = torch.ones(2, 2)
    config = LossConfig(loss_type=loss_type, epsilon_high=0.2)
    names = set(grpo_loss(ones, ones, ones, ones, torch.ones(2), config, entropy=ones).metrics)
    names |= set(
        rollout_metrics([[[0], [1]]], None, [[-1, 1]], [1, 1], [False, False], [None, None], sources=["length"])
    )
    for name in names:
        assert definition_of(name).definition_id.startswith("grpo-gui/"), name


@pytest.mark.parametrize(
    ("name", "label", "words"),
    [
        ("rewards/exact/mean", "exact", "“exact”"),
        ("rewards/exact/std", "exact std", "standard deviation"),
        ("rewards/my/own/mean", "my/own", "“my/own”"),
        ("eval/sort/accuracy", "Held-out accuracy: sort", "“sort”"),
        ("eval/sort/reward", "Held-out reward: sort", "“sort”"),
        ("system/disk_free", "Disk free", "while training"),
    ],
)
def test_that_names_made_while_running_are_defined(name, label, words):
    definition = definition_of(name)
    assert definition.label == label
    assert words in definition.tooltip
    assert definition.definition_id == f"grpo-gui/{name}/1"


def test_that_a_name_nobody_defined_says_so():
    definition = definition_of("actor/pg_clipfrac")
    assert definition.definition_id == "undefined/actor/pg_clipfrac"
    assert "without a definition" in definition.tooltip


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("kl", {"use_bias_correction_kl": True}),
        ("kl/max", {"use_bias_correction_kl": True}),
        ("loss", {"loss_type": "dapo"}),
        ("policy_loss", {"importance_sampling_level": "sequence"}),
        ("clip_ratio/low_mean", {"importance_sampling_level": "sequence"}),
        ("ratio/max", {"importance_sampling_level": "sequence"}),
        ("advantage/std", {"advantage_std": "population"}),
        ("advantage/max", {"scale_rewards": "none"}),
        ("advantage/min", {"multi_objective_aggregation": "normalize_then_sum"}),
    ],
)
def test_that_the_id_changes_with_the_options_that_change_the_meaning(name, options):
    assert definition_of(name, options).definition_id != definition_of(name).definition_id
    assert definition_of(name).definition_id == METRICS[name].definition_id


def test_that_options_of_no_concern_keep_the_id():
    options = {"loss_type": "dapo", "advantage_std": "population", "learning_rate": 1.0}
    for name in ("reward", "kl", "entropy", "step_time", "rewards/exact/mean"):
        assert definition_of(name, options) == definition_of(name)


def test_that_a_corrected_kl_says_so():
    assert "use_bias_correction_kl" in definition_of("kl", {"use_bias_correction_kl": True}).tooltip


def test_that_the_ids_are_stable():
    assert definition_of("kl").definition_id == "grpo-gui/kl/k3/1"
    assert definition_of("reward").definition_id == "grpo-gui/reward/1"
    assert definition_of("loss").definition_id == "grpo-gui/loss/grpo/token/1"
