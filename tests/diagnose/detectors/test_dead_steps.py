from grpo_gui.diagnose.detectors.dead_steps import DETECTOR
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import noise, watch


def test_that_two_clusters_of_gradients_are_found():
    def dying(step):
        return 1.0 + 0.1 * (step % 5) if step <= 40 or step % 2 else 0.005

    watched = watch(DETECTOR, steps=160, grad_norm=dying)
    assert watched.names == ["dead_steps"]
    assert watched.first[1].headline.startswith("In 40 %") or watched.first[1].value >= 0.4


def test_that_spikes_are_no_second_cluster():
    values = [60.0 if step % 5 == 0 else 1.0 + 0.02 * (step % 7) for step in range(160)]
    assert watch(DETECTOR, steps=160, grad_norm=values).names == []


def test_that_a_wide_single_cluster_is_none():
    values = (10 ** noise(300, 0.3)).tolist()
    assert watch(DETECTOR, steps=300, grad_norm=values).names == []


def test_that_eighty_steps_are_needed():
    assert watch(DETECTOR, steps=79, grad_norm=1.0).reading("dead_steps") is Missing.NOT_ENOUGH
