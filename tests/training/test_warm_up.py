import torch

from grpo_gui.training.warm_up import warm_up


def test_that_warming_up_tells_the_version_without_its_build_tag():
    state = warm_up()
    assert torch.__version__.startswith(state.version)
    assert "+" not in state.version
    assert len([name for name in state.devices if name.startswith("cuda:")]) == (
        torch.cuda.device_count() if torch.cuda.is_available() else 0
    )
