import pytest

from grpo_gui.store.records import ChangeRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.models.hyperparameters import HYPERPARAMETERS, change_text, current_values


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("learning_rate", 3e-4, "3.0e-4"),
        ("learning_rate", 2.345e-6, "2.345e-06"),
        ("beta", 0.02, "0.020"),
        ("beta", 0.0, "0.000"),
        ("epsilon", 0.2, "0.20"),
        ("epsilon", 3e-4, "3.0e-4"),
        ("epsilon_high", None, ""),
        ("temperature", 1.0, "1.00"),
        ("temperature", 0.333, "0.333"),
    ],
)
def test_that_a_value_is_written_so_that_it_reads_back(name, value, text):
    entry = HYPERPARAMETERS[name]
    assert entry.text(value) == text
    assert entry.parse(text) == value


def test_that_up_multiplies_a_learning_rate_and_adds_to_an_epsilon():
    assert HYPERPARAMETERS["learning_rate"].moved(1e-4, 1) == pytest.approx(1.1e-4)
    assert HYPERPARAMETERS["epsilon"].moved(0.2, -1) == pytest.approx(0.19)
    assert HYPERPARAMETERS["beta"].moved(0.001, -1) == 0.0


@pytest.mark.parametrize("text", ["abc", "nan", "inf", "1e999", "--1"])
def test_that_what_is_no_finite_number_is_refused(text):
    with pytest.raises(ValueError):
        HYPERPARAMETERS["beta"].parse(text)


def test_that_a_bad_value_has_a_sentence_and_a_good_one_has_none():
    config = TrainConfig()
    assert "temperature" in HYPERPARAMETERS["temperature"].problem(config, -1.0)
    assert HYPERPARAMETERS["temperature"].problem(config, 0.7) is None
    assert HYPERPARAMETERS["beta"].problem(config, None) == "KL weight beta needs a number."


def test_that_a_change_reads_as_old_to_new():
    assert change_text(ChangeRecord(96, "learning_rate", 3e-4, 2e-4)) == "lr 3.0e-4 → 2.0e-4"
    assert change_text(ChangeRecord(96, "epsilon_high", None, 0.28)) == "epsilon_high – → 0.28"
    assert change_text(ChangeRecord(96, "something_new", 1.0, 2.5)) == "something_new 1 → 2.5"


def test_that_the_values_in_force_are_the_configs_with_the_changes():
    values = current_values(TrainConfig(), [ChangeRecord(5, "beta", 0.02, 0.1), ChangeRecord(9, "beta", 0.1, 0.3)])
    assert values["beta"] == 0.3
    assert values["epsilon_high"] is None
