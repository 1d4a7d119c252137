"""The candidate network: the project's own objective, tied to the table, judged before it decides, replayed exactly."""

import json
import random

import numpy as np
import pytest
import torch

from grpo_gui.errors import BadInputError
from grpo_gui.grpo.config import LossConfig
from grpo_gui.grpo.loss import grpo_loss
from grpo_gui.router.config import RouterConfig
from grpo_gui.router.context import RoutingContext
from grpo_gui.router.groups import is_audit, training_groups
from grpo_gui.router.learner import NetworkLearner, _ratings_needed
from grpo_gui.router.network import MASKED, CandidateNetwork, NetworkBatch
from grpo_gui.router.network_config import NetworkConfig
from grpo_gui.router.off_policy import Estimate
from grpo_gui.router.policy import RouterPolicy
from grpo_gui.router.replay import replay
from grpo_gui.router.scorer import load_scorer

torch.set_num_threads(1)
MODELS = ("poet", "coder", "clerk")
TOPICS = {
    "write a poem about the sea number {}": {"poet": 0.9, "coder": 0.2, "clerk": 0.3},
    "sort this list of integers number {}": {"poet": 0.1, "coder": 0.9, "clerk": 0.4},
}
EAGER = NetworkConfig(learning_rate=0.05, full_voice_ratings=50, passes=6, groups_per_step=32)


def rated(policy, groups, seed=0, models=MODELS):
    """Two topics that the table cannot tell apart: all are of one class."""
    generator = random.Random(seed)
    for number in range(groups):
        topic = generator.choice(sorted(TOPICS))
        context = RoutingContext(query=topic.format(number), query_length=100)
        made = policy.propose(context, models, 2)
        policy.rate(made.decision, {model: TOPICS[topic].get(model, 0.0) for model in made.asked})
    return policy


def trained(policy, config=EAGER, **options):
    learner = NetworkLearner.begin(policy, config, **options)
    while learner.step() is not None:
        pass
    return learner


def chosen(policy, learner, topic):
    row = policy.state.table.row("general", policy.state.arms.places(MODELS))
    return MODELS[int((row + learner.scorer().offsets(topic.format(5), MODELS)).argmax())]


def test_that_it_learns_from_the_text_what_the_table_cannot_know():
    policy = rated(RouterPolicy(), 200)
    learner = trained(policy)
    assert [chosen(policy, learner, topic) for topic in sorted(TOPICS)] == ["coder", "poet"]


def test_that_an_mlp_learns_it_too():
    policy = rated(RouterPolicy(), 200)
    learner = trained(policy, NetworkConfig(hidden=16, learning_rate=0.01, full_voice_ratings=50, passes=8))
    assert [chosen(policy, learner, topic) for topic in sorted(TOPICS)] == ["coder", "poet"]


def test_that_a_new_network_adds_nothing_to_the_table():
    network = CandidateNetwork(NetworkConfig(hidden=8), 16, MODELS)
    scorer = network.scorer(1.0)
    assert not scorer.offsets_of(np.ones((2, 16), dtype=np.float32), MODELS).any()


def test_that_it_is_tied_to_the_table_until_it_has_ratings():
    config = NetworkConfig()
    assert [config.gate(n) for n in (0, 100, 1000, 5000)] == [0.0, 0.1, 1.0, 1.0]
    policy = rated(RouterPolicy(), 60)
    learner = trained(policy)
    ratings = sum(len(group.rewards) for group in training_groups(policy.state))
    assert learner.scorer().gate == pytest.approx(min(1.0, ratings / 50))


def batch(groups=5, size=3, models=4, inputs=8, seed=0):
    generator = np.random.default_rng(seed)
    mask = np.ones((groups, size), np.float32)
    mask[0, 1:] = 0
    base = generator.normal(size=(groups, models)).astype(np.float32)
    base[1, 3] = MASKED
    asked = np.stack([generator.permutation(3)[:size] for _ in range(groups)]).astype(np.float32)
    advantages = generator.normal(size=(groups, size)).astype(np.float32) * mask
    features = generator.normal(size=(groups, inputs)).astype(np.float32)
    return NetworkBatch(features, base, np.zeros_like(base), asked, mask, advantages)


def test_that_a_training_step_is_the_projects_own_loss_on_completions_of_one_token():
    config = NetworkConfig(num_iterations=4, beta=0.1, learning_rate=0.01)
    one, data = CandidateNetwork(config, 8, "abcd"), batch()
    result = one.train(data, 0.5)

    weight = torch.zeros(4, 8, requires_grad=True)
    bias = torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.AdamW([weight, bias], lr=0.01, weight_decay=0.0)
    base, asked = torch.from_numpy(data.base), torch.from_numpy(data.asked).long()

    def logps():
        logits = base + 0.5 * (torch.from_numpy(data.features) @ weight.T + bias)
        return logits.log_softmax(1).gather(1, asked).reshape(-1, 1)

    old = logps().detach()
    for _ in range(4):
        loss = grpo_loss(
            logps(),
            old,
            base.log_softmax(1).gather(1, asked).reshape(-1, 1),
            torch.from_numpy(data.mask).reshape(-1, 1),
            torch.from_numpy(data.advantages).reshape(-1),
            LossConfig(epsilon=0.2, beta=0.1),
        ).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    layer_weight, layer_bias = one.scorer(1.0).layers[0]
    assert layer_weight == pytest.approx(weight.detach().numpy(), abs=1e-6)
    assert layer_bias == pytest.approx(bias.detach().numpy(), abs=1e-6)
    assert result.old_logps == pytest.approx(old.numpy().reshape(5, 3), abs=1e-6)
    assert {"kl", "entropy", "clip_ratio/region_mean", "ratio/max", "loss"} <= set(result.metrics.result())


def test_that_groups_without_variance_and_audit_decisions_train_nothing_not_even_by_the_kl():
    policy = RouterPolicy(RouterConfig(group_size=3))
    for _ in range(20):
        made = policy.propose(RoutingContext(query="same", query_length=100), MODELS)
        policy.rate(made.decision, dict.fromkeys(made.asked, 0.5))
    assert training_groups(policy.state) == []
    assert NetworkLearner.begin(policy).step() is None
    rated(policy, 40)
    numbers = {group.decision.decision for group in training_groups(policy.state)}
    assert numbers
    assert not any(is_audit(number) or number <= 20 for number in numbers)


def test_that_about_one_decision_in_four_is_for_audit():
    assert sum(map(is_audit, range(1, 4001))) / 4000 == pytest.approx(0.25, abs=0.02)


def test_that_a_rating_alone_teaches_by_its_difference_from_what_was_expected():
    policy = RouterPolicy(RouterConfig(group_size=1))
    rated(policy, 60)
    for _ in range(30):
        made = policy.propose(RoutingContext(query="alone", query_length=100), MODELS, 1)
        policy.rate(made.decision, {made.asked[0]: 1.0})
    alone = [group for group in training_groups(policy.state) if len(group.rewards) == 1]
    assert alone
    assert all(group.advantages[0] > 0 for group in alone)


def test_that_it_stops_when_every_group_was_seen_often_enough_and_goes_on_with_new_ratings():
    policy = rated(RouterPolicy(), 60)
    learner = trained(policy)
    assert learner.step() is None
    rated(policy, 40, seed=1)
    assert learner.step() is not None


def test_that_a_locked_router_trains_no_network():
    policy = rated(RouterPolicy(), 40)
    policy.set_mode("locked")
    assert NetworkLearner.begin(policy, EAGER).step() is None


def test_that_a_step_reports_what_the_train_view_shows():
    policy = rated(RouterPolicy(), 80)
    step = NetworkLearner.begin(policy, EAGER).step()
    assert step.step == 1
    assert {"reward", "reward_std", "rewards/rating/mean", "advantage/max", "kl", "clip_ratio/low_mean", "loss"} <= set(
        step.metrics
    )
    assert len(step.groups) == 32
    assert step.metrics["frac_reward_zero_std"] == 0.0
    assert step.metrics["reward"] == pytest.approx(np.mean([r for group in step.groups for r in group.rewards]))


def test_that_new_and_renamed_models_are_taken_in():
    policy = rated(RouterPolicy(), 60)
    learner = trained(policy)
    before = learner.scorer().offsets("write a poem", MODELS)
    policy.rename_model("poet", "bard")
    models = ("bard", "coder", "clerk", "new")
    TOPICS_AFTER = {topic: values | {"bard": values["poet"]} for topic, values in TOPICS.items()}
    for number in range(60):
        made = policy.propose(RoutingContext(query=sorted(TOPICS)[number % 2], query_length=100), models, 3)
        values = TOPICS_AFTER[sorted(TOPICS)[number % 2]]
        policy.rate(made.decision, {model: values.get(model, 0.0) for model in made.asked})
    assert learner.step() is not None
    after = learner.scorer().offsets("write a poem", models)
    assert np.isfinite(after).all()
    assert after[0] == pytest.approx(before[0], abs=1.0)
    assert learner.scorer().offsets("write a poem", ("poet",)) == pytest.approx([0.0])


def test_that_a_network_that_grew_trains_on_like_one_that_was_wide_from_the_start():
    narrow, wide = (CandidateNetwork(NetworkConfig(), 8, models) for models in ("abc", "abcd"))
    data = batch(models=4)
    data.base[:, 3] = MASKED
    for name in ("base", "reference"):
        assert getattr(data, name).shape == (5, 4)
    small = NetworkBatch(data.features, data.base[:, :3], data.reference[:, :3], data.asked, data.mask, data.advantages)
    narrow.train(small, 1.0)
    wide.train(data, 1.0)
    narrow.know("abcd")
    narrow.train(data, 1.0)
    wide.train(data, 1.0)
    assert narrow.scorer(1.0).layers[0][0] == pytest.approx(wide.scorer(1.0).layers[0][0], abs=1e-6)


# -- judging and taking over ----------------------------------------------------------------------------------


def judged(groups=400):
    log = []
    policy = rated(RouterPolicy(RouterConfig(group_size=2), record=log.extend), groups)
    learner = trained(policy)
    return log, policy, learner


def test_that_a_better_candidate_takes_over_and_can_be_rolled_back():
    _, policy, learner = judged()
    verdict = learner.verdict()
    assert verdict.is_better
    assert 0 < verdict.gain.low < verdict.gain.mean < verdict.gain.high
    assert verdict.candidate.doubly_robust.mean > verdict.active.doubly_robust.mean
    assert verdict.ratings_needed == 0
    context = RoutingContext(query=sorted(TOPICS)[1].format(1), query_length=100)
    before = policy.explain(context, MODELS)
    assert learner.promote(verdict) == 1
    after = policy.explain(context, MODELS)
    assert (before.policy, after.policy) == ("table", "network 1")
    assert after.models[0].model == "poet"
    made = policy.propose(context, MODELS)
    assert made.policy == "network 1"
    policy.roll_back()
    assert policy.explain(context, MODELS).models == before.models
    with pytest.raises(BadInputError, match="nothing to roll back"):
        policy.roll_back()


def test_that_the_reference_is_refreshed_only_by_promotion():
    _, policy, learner = judged()
    rated(policy, 60, seed=2)
    assert not learner.step().batch.reference.any()
    learner.promote(learner.verdict())
    rated(policy, 60, seed=3)
    assert learner.step().batch.reference.any()


def test_that_a_candidate_is_not_promoted_before_it_is_better_for_certain():
    policy = rated(RouterPolicy(), 30)
    learner = trained(policy)
    verdict = learner.verdict()
    assert not verdict.is_better
    assert np.isnan(verdict.gain.mean)
    with pytest.raises(BadInputError, match="cannot be judged yet"):
        learner.promote(verdict)
    assert policy.state.policy_name == "table"
    with pytest.raises(BadInputError, match="has not learned anything"):
        NetworkLearner.begin(policy).promote(verdict)
    for low in (0.0, -0.1, float("nan")):
        with pytest.raises(BadInputError, match="not better for certain"):
            policy.promote(learner.scorer().to_bytes(), 0.1, low, 0.2)


def test_that_a_candidate_no_better_than_the_table_is_not_better():
    policy = RouterPolicy(RouterConfig(group_size=2))
    generator = random.Random(0)
    for number in range(300):
        made = policy.propose(RoutingContext(query=f"noise {number}", query_length=100), MODELS)
        policy.rate(made.decision, {model: generator.random() for model in made.asked})
    assert not trained(policy, NetworkConfig()).verdict().is_better


@pytest.mark.parametrize("mode", ["shadow", "locked"])
def test_that_it_takes_over_in_the_mode_learn_only(mode):
    _, policy, learner = judged(200)
    policy.set_mode(mode)
    verdict = learner.verdict()
    with pytest.raises(BadInputError, match="mode `learn` only"):
        learner.promote(verdict)


def test_that_the_ratings_still_needed_are_estimated():
    _, _, learner = judged(260)
    verdict = learner.verdict()
    assert verdict.ratings_needed is not None

    assert _ratings_needed(Estimate(0.1, -0.1, 0.3), 100, 2.0) == 100 * 3 * 4 * 2
    assert _ratings_needed(Estimate(-0.1, -0.3, 0.1), 100, 2.0) is None


# -- replay and files -------------------------------------------------------------------------------------------


def test_that_replaying_the_log_reproduces_the_network_exactly():
    log = []
    policy = rated(RouterPolicy(seed=3, record=log.extend), 60)
    learner = NetworkLearner.begin(policy, NetworkConfig(hidden=8, full_voice_ratings=50, groups_per_step=16))
    for round_number in range(3):
        while learner.step() is not None:
            pass
        rated(policy, 30, seed=round_number, models=(*MODELS, "late") if round_number else MODELS)
    again = replay(log, make_learner=NetworkLearner.from_event)
    assert again.differences == ()
    assert again.steps_compared == learner.steps == again.learner.steps > 5
    assert again.learner.digest == learner.digest != ""


def test_that_a_different_network_is_named_by_replay():
    log = []
    policy = rated(RouterPolicy(seed=3, record=log.extend), 60)
    trained(policy, NetworkConfig(groups_per_step=16))
    started = next(i for i, event in enumerate(log) if type(event).__name__ == "RouterNetworkStarted")
    config = json.loads(log[started].config) | {"learning_rate": 0.02}
    log[started] = type(log[started])(json.dumps(config), "cpu")
    again = replay(log, make_learner=NetworkLearner.from_event)
    assert any("network before training step" in difference for difference in again.differences)


def test_that_a_promoted_network_comes_back_from_the_log_without_torch():
    log, policy, learner = judged()
    learner.promote(learner.verdict())
    again = replay(log)
    context = RoutingContext(query=sorted(TOPICS)[0], query_length=100)
    assert again.policy.explain(context, MODELS) == policy.explain(context, MODELS)
    assert again.learner is None


def test_that_a_network_goes_to_bytes_and_back():
    scorer = trained(rated(RouterPolicy(), 60), NetworkConfig(hidden=4)).scorer()
    again = load_scorer(scorer.to_bytes())
    assert again.offsets("a poem", MODELS).tolist() == scorer.offsets("a poem", MODELS).tolist()
    assert scorer.offsets("a poem", (*MODELS, "unknown"))[3] == 0.0


@pytest.mark.parametrize("data", [b"", b"nonsense", b"\x08\0\0\0\0\0\0\0{}      "])
def test_that_other_bytes_are_no_network(data):
    with pytest.raises(BadInputError, match="not a network of the router"):
        load_scorer(data)


@pytest.mark.parametrize(
    "options", [{"hidden": -1}, {"num_iterations": 0}, {"learning_rate": float("nan")}, {"passes": 1.5}]
)
def test_that_bad_options_are_named(options):
    with pytest.raises(BadInputError, match=next(iter(options))):
        NetworkConfig(**options)


@pytest.mark.gpu
def test_that_it_trains_on_cuda_and_repeats_its_numbers():
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    digests = []
    for _ in range(2):
        policy = rated(RouterPolicy(), 100)
        learner = trained(policy, device="cuda")
        digests.append(learner.digest)
        assert [chosen(policy, learner, topic) for topic in sorted(TOPICS)] == ["coder", "poet"]
    assert digests[0] == digests[1]
