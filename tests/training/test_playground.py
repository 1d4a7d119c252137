"""Asking and comparing models: the same seed, the same answers."""

import pytest

from grpo_gui.errors import BadInputError, ModelError
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.playground import BATCH, Cancelled, Playground, completion_length
from tests.snapshots.samples import make_snapshot
from tests.training.fakes import tiny_config

PROMPT = "Which is bigger? 9.11 or 9.9?"


@pytest.fixture
def playground():
    result = Playground()
    yield result
    result.forget()


def compare(playground, first, second, config, *, prompts=40, seed=3, progress=None, cancelled=lambda: False):
    return playground.compare(
        first,
        second,
        config,
        prompts=prompts,
        seed=seed,
        progress=progress or (lambda done, total: None),
        cancelled=cancelled,
    )


def test_that_the_built_in_model_answers(playground):
    (answer,) = playground.ask("builtin", PROMPT, temperature=0.0)
    assert (answer.text, answer.tokens, answer.truncated, answer.reward) == ("9.9", 4, False, None)


def test_that_the_same_seed_gives_the_same_answers_and_another_one_others(playground, tiny_model):
    first, again, other = (playground.ask(str(tiny_model), PROMPT, count=8, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_that_options_out_of_range_are_refused(playground):
    for wrong in ({"temperature": -1.0}, {"count": 0}, {"max_new_tokens": 0}):
        with pytest.raises(BadInputError):
            playground.ask("builtin", PROMPT, **wrong)
    with pytest.raises(ModelError, match="exceeds"):
        playground.ask("builtin", "x" * 600)


def test_that_a_model_compared_with_itself_gives_equal_texts(playground, tiny_model, tmp_path):
    twin = make_snapshot(tmp_path / "twin", tiny_model).path
    comparison = compare(playground, str(tiny_model), str(twin), tiny_config(tiny_model))
    assert len(comparison.pairs) == 40
    assert all(pair.first == pair.second for pair in comparison.pairs)
    assert comparison.win_rate.ties == 40
    assert comparison.distinct() == []


def test_that_a_trained_model_beats_an_untrained_one_on_held_out_prompts(playground, tiny_model):
    config = TrainConfig(task="compare")
    progress = []
    comparison = compare(
        playground, "builtin", str(tiny_model), config, progress=lambda done, total: progress.append((done, total))
    )
    rate = comparison.win_rate
    assert rate.wins > 10
    assert rate.losses == 0
    assert rate.interval()[0] > 0.5
    assert [pair.prompt for pair in comparison.pairs] == [
        pair.prompt for pair in compare(playground, str(tiny_model), "builtin", config).pairs
    ]
    assert progress == [(BATCH, 80), (40, 80), (40 + BATCH, 80), (80, 80)]


def test_that_a_comparison_can_be_cancelled(playground, tiny_model):
    asked = []
    with pytest.raises(Cancelled):
        compare(
            playground,
            "builtin",
            str(tiny_model),
            TrainConfig(),
            cancelled=lambda: len(asked) == 1,
            progress=lambda done, total: asked.append(done),
        )
    assert asked == [BATCH]


def test_that_the_longest_completion_is_that_of_the_snapshots_run(tmp_path, tiny_model):
    snapshot = make_snapshot(tmp_path / "a", tiny_model, config={"max_completion_length": 9}).path
    assert completion_length(str(snapshot)) == 9
    assert completion_length(str(tiny_model)) == completion_length("builtin") == 64
