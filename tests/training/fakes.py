"""A tiny model, a sink that remembers, and a policy that can be made to fail."""

import queue
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

from grpo_gui.commands import Command
from grpo_gui.events import Event, RunStatus, StepCompleted, TrainerStatus
from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.decoder import Decoder
from grpo_gui.language.loading import load_policy, save_model
from grpo_gui.language.policy import LanguagePolicy
from grpo_gui.language.tokenizer import build_builtin_tokenizer
from grpo_gui.tasks.making import make_task
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.training.learner import Learner
from grpo_gui.training.trainer import Trainer

E = TypeVar("E", bound=Event)

EOS = 2
LENGTH_REWARD = (RewardSpec("length", "length", argument="3"),)


def make_tiny_model(folder: Path) -> Path:
    """A random model that ends its completions after some tokens, so that groups differ in length."""
    torch.manual_seed(0)
    config = DecoderConfig(
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=8,
    )
    decoder = Decoder(config)
    with torch.no_grad():
        for name, parameter in decoder.named_parameters():
            if "norm" not in name:
                parameter.normal_(std=0.3)
        embedding = decoder.state_dict()["model.embed_tokens.weight"]
        embedding[:, 0] = 1.5  # a direction that every hidden state shares,
        embedding[EOS, 0] = 4.0  # so that the end is likelier than any other token
    save_model(folder, decoder, build_builtin_tokenizer(), config)
    return folder


def tiny_config(model: Path, **changes: object) -> TrainConfig:
    config = TrainConfig(
        model=str(model),
        rewards=LENGTH_REWARD,
        steps=4,
        warmup_steps=1,
        prompts_per_step=4,
        num_generations=4,
        max_completion_length=6,
        learning_rate=1e-3,
        eval_steps=0,
        device="cpu",
    )
    return replace(config, **changes)


def tiny_learner(config: TrainConfig, device: str = "cpu") -> Learner:
    torch.set_num_threads(1)
    policy: LanguagePolicy = load_policy(config.model, device)
    task = make_task(config.task, mix=config.task_mix, min_size=config.min_size, max_size=config.max_size)
    return Learner(config, policy, task)


def weights_of(learner: Learner) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in learner.policy.state_dict().items()}


def same_weights(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def without_times(metrics: dict[str, float]) -> dict[str, float]:
    return {
        name: value
        for name, value in metrics.items()
        if not name.startswith(("time/", "system/")) and name not in ("step_time", "tokens_per_second")
    }


def never() -> None:
    """A checkpoint that lets the step go on."""


class Sink:
    """Remembers the events; `on_event` may post commands; `busy` answers `congestion`."""

    def __init__(self, on_event: Callable[[Event], None] = lambda event: None) -> None:
        self.events: list[Event] = []
        self.on_event = on_event
        self.busy: Iterator[str | None] = iter(())

    def emit(self, event: Event) -> None:
        self.events.append(event)
        self.on_event(event)

    def congestion(self) -> str | None:
        return next(self.busy, None)

    def flush(self, timeout_s: float) -> bool:
        return True

    def write_ms(self) -> float | None:
        return None

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def steps(self) -> list[dict[str, float]]:
        return [without_times(dict(event.metrics)) for event in self.of(StepCompleted)]

    @property
    def statuses(self) -> list[RunStatus]:
        return [event.status for event in self.of(TrainerStatus)]


@dataclass
class Rig:
    """A trainer with its sink and its queue of commands."""

    config: TrainConfig
    state_dir: Path
    resume: bool = False
    snapshot: Path | None = None
    sink: Sink = field(default_factory=Sink)
    commands: "queue.SimpleQueue[Command]" = field(default_factory=queue.SimpleQueue)

    def run(self) -> RunStatus:
        return Trainer(self.config, 7, self.sink, self.commands, self.state_dir, self.resume, self.snapshot).run()

    def post_at_step(self, step: int, *commands: Command) -> "Rig":
        """Post commands as soon as `step` is complete."""

        before = self.sink.on_event

        def post(event: Event) -> None:
            before(event)
            if isinstance(event, StepCompleted) and event.step == step:
                for command in commands:
                    self.commands.put(command)

        self.sink.on_event = post
        return self
