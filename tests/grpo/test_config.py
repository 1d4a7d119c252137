import subprocess
import sys

import pytest

import grpo_gui.grpo
from grpo_gui.grpo import LossConfig


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"loss_type": "ppo"}, "grpo, bnpo, dapo, dr_grpo, cispo"),
        ({"importance_sampling_level": "word"}, "token or sequence"),
        ({"loss_type": "dr_grpo"}, "max_completion_length"),
        ({"loss_type": "cispo"}, "epsilon_high"),
    ],
)
def test_that_options_that_cannot_work_are_refused_in_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        LossConfig(**options)


def test_that_epsilon_high_is_epsilon_unless_set():
    assert LossConfig(epsilon=0.1).upper_epsilon == 0.1
    assert LossConfig(epsilon=0.1, epsilon_high=0.28).upper_epsilon == 0.28


def test_that_all_public_names_are_there_and_no_other():
    for name in grpo_gui.grpo.__all__:
        assert getattr(grpo_gui.grpo, name) is not None
    with pytest.raises(AttributeError, match="grpo_los"):
        _ = grpo_gui.grpo.grpo_los


def test_that_torch_is_not_loaded_before_it_is_needed():
    code = (
        "import sys; from grpo_gui.grpo import LossConfig, METRICS, definition_of, group_advantages, rollout_metrics\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
