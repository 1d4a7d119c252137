import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.errors import BadInputError
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.training.validation import (
    advice,
    config_from_json,
    config_to_json,
    parse_override,
    problems,
    validate,
)

DEFAULT = TrainConfig()
NAN = float("nan")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("task", "chess", "compare, sort"),
        ("prompt_file", "", "data file"),
        ("min_size", -1, "0"),
        ("rewards", (), "at least one reward"),
        ("rewards", (RewardSpec("a", "exact"), RewardSpec("a", "numeric")), "Two rewards"),
        ("rewards", (RewardSpec("a/b", "exact"),), "slash"),
        ("rewards", (RewardSpec("a", "magic"),), "There is no reward 'magic'"),
        ("rewards", (RewardSpec("a", "exact", weight=NAN),), "finite"),
        ("rewards", (RewardSpec("a", "exact", weight=0.0),), "weight 0"),
        ("rewards", (RewardSpec("a", "regex", argument="("),), "regular expression"),
        ("model", "no/such/folder", "no model folder"),
        ("steps", 0, "from 1"),
        ("prompts_per_step", 0, "from 1"),
        ("num_generations", 1, "judged against the others"),
        ("num_iterations", 0, "from 1"),
        ("micro_batch_prompts", 3, "1, 2, 4, 8"),
        ("micro_batch_prompts", 16, "divisor"),
        ("micro_batch_prompts", -1, "divisor"),
        ("max_completion_length", 0, "from 1"),
        ("learning_rate", 0.0, "above 0"),
        ("learning_rate", NAN, "nan"),
        ("learning_rate", float("inf"), "inf"),
        ("warmup_steps", -1, "from 0"),
        ("min_lr_ratio", 1.5, "from 0 to 1"),
        ("max_grad_norm", -1.0, "gradient norm"),
        ("weight_decay", -0.1, "weight decay"),
        ("loss_type", "ppo", "grpo, bnpo"),
        ("importance_sampling_level", "word", "token, sequence"),
        ("epsilon", 0.0, "above 0"),
        ("epsilon_high", 0.0, "above 0"),
        ("delta", 1.1, "1.2"),
        ("beta", -0.1, "beta"),
        ("scale_rewards", "all", "group, batch, none"),
        ("multi_objective_aggregation", "sum", "sum_then_normalize"),
        ("advantage_std", "robust", "sample, population"),
        ("advantage_eps", 0.0, "above 0"),
        ("temperature", 0.0, "above 0"),
        ("top_k", -1, "top_k"),
        ("top_p", 0.0, "top_p"),
        ("eval_steps", -1, "evaluations"),
        ("eval_prompts", 0, "held-out prompts"),
        ("seed", -1, "seed"),
        ("device", "gpu", "cuda:N"),
        ("device", "cuda:", "cuda:N"),
        ("threads", 0, "threads"),
    ],
)
def test_that_a_bad_value_is_named_in_a_sentence(field: str, value: object, words: str):
    changes = {field: value, "task": "file"} if field == "prompt_file" else {field: value}
    config = replace(DEFAULT, **changes)
    found = problems(config)
    assert words in found[field]
    assert found[field].endswith(".")
    with pytest.raises(BadInputError, match=field):
        validate(config)


def test_that_the_defaults_have_no_problems():
    assert problems(DEFAULT) == {}
    validate(DEFAULT)


def test_that_cispo_needs_its_cap():
    assert "epsilon_high" in problems(replace(DEFAULT, loss_type="cispo"))
    assert problems(replace(DEFAULT, loss_type="cispo", epsilon_high=5.0)) == {}
    assert "delta" in problems(replace(DEFAULT, loss_type="cispo", epsilon_high=5.0, delta=10.0))


def test_that_bf16_is_refused_on_the_processor():
    assert "bf16" in problems(replace(DEFAULT, bf16=True, device="cpu"))
    assert problems(replace(DEFAULT, bf16=True, device="cuda:0")) == {}


def test_that_sizes_outside_the_tasks_limits_are_refused():
    assert "min_size" in problems(replace(DEFAULT, task="sort", min_size=9, max_size=4))
    assert "min_size" in problems(replace(DEFAULT, task="mix", min_size=3))
    assert problems(replace(DEFAULT, task="sort", min_size=9, max_size=9)) == {}


def test_that_a_mix_is_checked_only_when_it_is_used():
    bad = (("compare", 1.0), ("chess", 1.0))
    assert "chess" in problems(replace(DEFAULT, task="mix", task_mix=bad))["task_mix"]
    assert problems(replace(DEFAULT, task_mix=bad)) == {}


def test_that_a_name_too_long_for_any_file_is_no_file():
    config = replace(DEFAULT, task="file", prompt_file="n" * 5000, model="m" * 5000)
    assert {"prompt_file", "model"} <= set(problems(config))


def test_that_a_missing_prompt_file_is_named(tmp_path):
    config = replace(DEFAULT, task="file", prompt_file=str(tmp_path / "questions.jsonl"))
    assert "questions.jsonl" in problems(config)["prompt_file"]
    (tmp_path / "questions.jsonl").write_text('{"prompt": "1+1", "answer": "2"}\n')
    assert problems(config) == {}


def test_that_a_cut_sampling_distribution_brings_advice():
    assert "top_k" in advice(replace(DEFAULT, top_k=5))
    assert "top_p" in advice(replace(DEFAULT, top_p=0.9))
    assert "clipped" in advice(replace(DEFAULT, num_iterations=1))["num_iterations"]
    assert advice(DEFAULT) == {}


@given(
    st.builds(
        TrainConfig,
        task_mix=st.lists(st.tuples(st.sampled_from(["compare", "sort"]), st.floats(0.1, 9))).map(tuple),
        rewards=st.lists(st.builds(RewardSpec, st.text(), st.text(), st.floats(-2, 2), st.text()), max_size=3).map(
            tuple
        ),
        learning_rate=st.floats(1e-9, 1),
        epsilon_high=st.none() | st.floats(0, 9),
        steps=st.integers(1, 10**9),
        bf16=st.booleans(),
    )
)
def test_that_json_gives_the_same_config_back(config: TrainConfig):
    assert config_from_json(config_to_json(config)) == config


def test_that_missing_fields_get_defaults_and_unknown_ones_are_left_out():
    assert config_from_json('{"steps": 7, "of_another_version": 1}') == replace(DEFAULT, steps=7)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("[1]", "JSON object"),
        ('{"steps": "many"}', "steps"),
        ('{"steps": 1.5}', "whole number"),
        ('{"steps": true}', "whole number"),
        ('{"bf16": 1}', "true or false"),
        ('{"task": 3}', "text"),
        ('{"rewards": [{"name": "x"}]}', "rewards"),
        ('{"rewards": "exact"}', "rewards"),
        ('{"task_mix": [["compare"]]}', "task_mix"),
    ],
)
def test_that_a_broken_config_is_refused_with_a_sentence(text: str, words: str):
    with pytest.raises(BadInputError, match=words):
        config_from_json(text)


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("learning_rate=1e-4", {"learning_rate": 1e-4}),
        ("steps = 50", {"steps": 50}),
        ("beta=0", {"beta": 0.0}),
        ("epsilon_high=none", {"epsilon_high": None}),
        ("epsilon_high=0.28", {"epsilon_high": 0.28}),
        ("use_bias_correction_kl=True", {"use_bias_correction_kl": True}),
        ("task=sort", {"task": "sort"}),
        ("prompt_file=C:\\data\\a=b.csv", {"prompt_file": "C:\\data\\a=b.csv"}),
        ("task_mix=compare:2,add", {"task_mix": (("compare", 2.0), ("add", 1.0))}),
        (
            "rewards=exact:1,numeric:0.5",
            {"rewards": (RewardSpec("exact", "exact"), RewardSpec("numeric", "numeric", 0.5))},
        ),
        (
            'rewards=[{"kind": "length", "argument": "5"}]',
            {"rewards": (RewardSpec("length", "length", argument="5"),)},
        ),
    ],
)
def test_that_an_override_changes_one_field(text: str, changes: dict[str, object]):
    assert parse_override(DEFAULT, text) == replace(DEFAULT, **changes)


@pytest.mark.parametrize(
    "text", ["steps", "speed=3", "steps=fast", "steps=1.5", "bf16=yes", "rewards=exact:much", "steps="]
)
def test_that_a_bad_override_is_refused(text: str):
    with pytest.raises(BadInputError):
        parse_override(DEFAULT, text)


def test_that_the_json_is_strict():
    assert json.loads(config_to_json(DEFAULT))["epsilon_high"] is None
    with pytest.raises(ValueError, match="JSON compliant"):
        config_to_json(replace(DEFAULT, learning_rate=NAN))
