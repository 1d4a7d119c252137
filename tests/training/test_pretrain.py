import threading

import pytest
import torch

from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.decoder import Decoder
from grpo_gui.language.loading import load_policy
from grpo_gui.language.tokenizer import build_builtin_tokenizer
from grpo_gui.tasks import make_task
from grpo_gui.training import pretrain
from grpo_gui.training.pretrain import RECIPE, Phase, learning_rate_share, make_optimizers

SMALL = {"sort": 4, "reverse": 4}
TWO_PHASES = (Phase("A", 6, 3e-3, SMALL), Phase("B", 4, 1e-3, SMALL, noise=0.4, long_texts=True))


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def weights(folder):
    return load_policy(str(folder), torch.device("cpu")).state_dict()


def test_that_the_loss_falls_within_a_few_steps(tmp_path):
    reports = []
    phase = Phase("A", 100, 3e-3, {"sort": 8})
    accuracies = pretrain.run(tmp_path, phases=[phase], on_progress=reports.append, eval_problems=8)
    assert [report.step for report in reports] == [50, 100]
    assert reports[1].loss < reports[0].loss - 0.5
    assert reports[0].accuracies == {}
    assert set(reports[1].accuracies) == set(accuracies) == {"sort"}


def test_that_a_finished_model_answers_with_the_weights_that_were_measured(tmp_path):
    measured = pretrain.run(tmp_path, phases=TWO_PHASES, eval_problems=4)
    saved = load_policy(str(tmp_path), "cpu")
    for name, accuracy in measured.items():
        assert pretrain.accuracy(saved.decoder, saved.tokenizer, make_task(name).held_out(4)) == accuracy
    finished, last_phase = weights(tmp_path), weights(tmp_path / "phase-B")
    for name, weight in finished.items():
        torch.testing.assert_close(weight.float(), last_phase[name].half().float())


def test_that_a_run_repeats_its_numbers_also_when_it_starts_behind_a_saved_phase(tmp_path):
    pretrain.run(tmp_path / "whole", phases=TWO_PHASES, seed=3, eval_problems=4)
    pretrain.run(tmp_path / "parts", phases=TWO_PHASES[:1], seed=3, eval_problems=4)
    reports = []
    pretrain.run(tmp_path / "parts", phases=TWO_PHASES, seed=3, on_progress=reports.append, eval_problems=4)
    assert [report.phase for report in reports] == ["B"]
    assert reports[0].step == 10
    whole, parts = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_that_another_seed_gives_another_model(tmp_path):
    pretrain.run(tmp_path / "0", phases=TWO_PHASES[:1], seed=0, eval_problems=4)
    pretrain.run(tmp_path / "1", phases=TWO_PHASES[:1], seed=1, eval_problems=4)
    name = "model.embed_tokens.weight"
    assert not torch.equal(weights(tmp_path / "0")[name], weights(tmp_path / "1")[name])


def test_that_a_cancelled_run_ends_without_a_model(tmp_path):
    cancel = threading.Event()
    cancel.set()
    assert pretrain.run(tmp_path, phases=TWO_PHASES, cancel=cancel, eval_problems=4) is None
    assert list(tmp_path.iterdir()) == []


def test_that_a_run_cancelled_in_its_second_phase_keeps_the_first(tmp_path):
    cancel = threading.Event()
    result = pretrain.run(
        tmp_path, phases=TWO_PHASES, on_progress=lambda report: cancel.set(), cancel=cancel, eval_problems=4
    )
    assert result is None
    assert [path.name for path in tmp_path.iterdir()] == ["phase-A"]


def test_that_accuracy_is_what_decoding_token_by_token_gives():
    tokenizer, generator = build_builtin_tokenizer(), torch.Generator().manual_seed(0)
    model = Decoder(DecoderConfig())
    model.initialize(generator)
    problems = make_task("add", min_size=1, max_size=1).held_out(8)
    measured = pretrain.accuracy(model, tokenizer, problems)
    probabilities, right = [], []
    with torch.no_grad():
        for problem in problems:
            ids, probability, greedy = tokenizer.encode_prompt(problem.prompt), 1.0, True
            for token in [*tokenizer.encode(problem.answer), min(tokenizer.eos_ids)]:
                distribution = model(torch.tensor([ids]))[0, -1].softmax(-1)
                probability *= distribution[token].item()
                greedy &= distribution.argmax().item() == token
                ids.append(token)
            probabilities.append(probability)
            right.append(greedy)
    assert measured.sampled == pytest.approx(sum(probabilities) / 8, rel=1e-4)
    assert measured.greedy == sum(right) / 8


def test_that_muon_takes_the_matrices_of_the_layers_and_adamw_the_rest():
    model = Decoder(DecoderConfig())
    muon, adamw = make_optimizers(model)
    taken = [parameter for group in muon.param_groups for parameter in group["params"]]
    others = [parameter for group in adamw.param_groups for parameter in group["params"]]
    assert len(taken) == 4 * 7
    assert {id(parameter) for parameter in taken + others} == {id(parameter) for parameter in model.parameters()}
    assert len(taken + others) == len(list(model.parameters()))
    assert model.model.embed_tokens.weight is others[0]


def test_that_the_learning_rate_warms_up_and_decays_in_a_line():
    shares = [learning_rate_share(step, 1050) for step in range(1050)]
    assert shares[0] == pytest.approx(1 / 50)
    assert shares[49] == shares[50] == 1.0
    assert shares[550] == pytest.approx(0.51)
    assert shares[-1] == pytest.approx(0.02, abs=1e-3)
    assert learning_rate_share(0, 1) == 1.0


def test_that_the_recipe_ends_with_noise_and_longer_texts():
    assert [phase.noise for phase in RECIPE] == [0.0, 0.0, 0.35]
    assert [phase.long_texts for phase in RECIPE] == [False, False, True]
