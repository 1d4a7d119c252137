"""Make the built-in base model: supervised training on demonstrations, clean ones first and noisy ones last."""

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.decoder import Decoder
from grpo_gui.language.loading import load_policy, save_model
from grpo_gui.language.tokenizer import Tokenizer, build_builtin_tokenizer
from grpo_gui.tasks import Problem, Task, make_task
from grpo_gui.training.demonstrations import Demonstration, demonstrate
from grpo_gui.training.packing import PackedRows, TokenText, pack

WARMUP_STEPS = 50
FINAL_LR_SHARE = 0.02
MAX_GRAD_NORM = 1.0
NOISE_RAMP_STEPS = 300
REPORT_STEPS = 50
EVALUATE_STEPS = 500
SAVED_DTYPE = torch.float16  # all weights are small, so its finer steps serve better than bfloat16's range
LONG_SORT = (7, 8)  # digits; the preset that teaches 9 builds on these
LONG_REVERSE = (8, 9)  # letters


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of pretraining with an optimizer of its own.

    `per_step` counts the demonstrations of each task in a step. `noise` is the share of wrong answers
    after the ramp. With `long_texts` each step has one longer sort and one longer reverse.
    """

    name: str
    steps: int
    learning_rate: float
    per_step: Mapping[str, int]
    noise: float = 0.0
    long_texts: bool = False


RECIPE = (
    Phase("A", 4500, 3e-3, {"compare": 26, "add": 24, "sort": 8, "reverse": 8}),
    Phase("B", 2200, 2e-3, {"compare": 28, "add": 24, "sort": 8, "reverse": 8}),
    Phase("C", 1500, 8e-4, {"compare": 26, "add": 22, "sort": 10, "reverse": 10}, noise=0.35, long_texts=True),
)


@dataclass(frozen=True, slots=True)
class TaskAccuracy:
    """Held-out accuracy of one task.

    `greedy` is the share of problems whose most probable tokens are the answer. `sampled` is the mean
    probability of the answer at temperature 1: what the accuracy of sampled completions tends to.
    """

    greedy: float
    sampled: float


@dataclass(frozen=True, slots=True)
class PretrainProgress:
    """What `run` reports every 50 steps; `accuracies` (by task) only when it has just measured them."""

    phase: str
    step: int
    total_steps: int
    loss: float
    learning_rate: float
    tokens_per_second: float
    accuracies: dict[str, TaskAccuracy] = field(default_factory=dict)


def run(
    folder: Path,
    *,
    seed: int = 0,
    phases: Sequence[Phase] = RECIPE,
    device: str = "cpu",
    on_progress: Callable[[PretrainProgress], None] | None = None,
    cancel: threading.Event | None = None,
    eval_problems: int = 512,
) -> dict[str, TaskAccuracy] | None:
    """Train a base model and save it in `folder`; return its held-out accuracies by task.

    After each phase the float32 model is saved in `folder/phase-NAME`; a run with the same folder starts
    behind the last saved phase and ends with the same numbers. The finished model in `folder` is in 16 bit,
    and it is this one whose accuracies are returned. Takes half an hour on one core. Returns None when
    `cancel` was set.

    Raises:
        ModelError: when a saved phase cannot be loaded.
    """
    tokenizer = build_builtin_tokenizer()
    model = Decoder(DecoderConfig())
    model.initialize(torch.Generator().manual_seed(seed))
    model.to(device)
    held_out = {name: make_task(name).held_out(eval_problems) for name in phases[0].per_step}
    trainer = _Pretrainer(model, tokenizer, held_out, phases, on_progress, cancel or threading.Event())
    for phase in phases:
        saved = folder / f"phase-{phase.name}"
        if (saved / "model.safetensors").exists():
            model.load_state_dict(load_policy(str(saved), device).state_dict())
            trainer.step += phase.steps
            continue
        if not trainer.train(phase, seed):
            return None
        save_model(saved, model, tokenizer, model.config, torch.float32)
    save_model(folder, model, tokenizer, model.config, SAVED_DTYPE)
    model.load_state_dict({name: weight.to(SAVED_DTYPE) for name, weight in model.state_dict().items()})
    return trainer.evaluate()


class _Pretrainer:
    """The state that the phases of one pretraining share."""

    def __init__(
        self,
        model: Decoder,
        tokenizer: Tokenizer,
        held_out: Mapping[str, list[Problem]],
        phases: Sequence[Phase],
        on_progress: Callable[[PretrainProgress], None] | None,
        cancel: threading.Event,
    ) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.held_out = held_out
        self.total_steps = sum(phase.steps for phase in phases)
        self.on_progress = on_progress
        self.cancel = cancel
        self.step = 0

    def train(self, phase: Phase, seed: int) -> bool:
        """Run one phase; return False when it was cancelled."""
        rng = random.Random(f"pretrain/{seed}/{phase.name}")
        optimizers = make_optimizers(self.model)
        losses: list[Tensor] = []
        tokens, started = 0, time.perf_counter()
        for step in range(phase.steps):
            if self.cancel.is_set():
                return False
            rows = self._draw(phase, step, rng)
            learning_rate = phase.learning_rate * learning_rate_share(step, phase.steps)
            losses.append(self._update(rows, optimizers, learning_rate))
            tokens += rows.ids.numel()
            self.step += 1
            if self.step % REPORT_STEPS == 0 or step + 1 == phase.steps:
                loss = torch.stack(losses).mean().item()
                rate = tokens / (time.perf_counter() - started)
                measure = self.step % EVALUATE_STEPS == 0 or step + 1 == phase.steps
                accuracies = self.evaluate() if measure else {}
                report = PretrainProgress(
                    phase.name, self.step, self.total_steps, loss, learning_rate, rate, accuracies
                )
                if self.on_progress is not None:
                    self.on_progress(report)
                losses, tokens, started = [], 0, time.perf_counter()
        return True

    def evaluate(self) -> dict[str, TaskAccuracy]:
        """Measure the held-out accuracies."""
        return {name: accuracy(self.model, self.tokenizer, problems) for name, problems in self.held_out.items()}

    def _draw(self, phase: Phase, step: int, rng: random.Random) -> PackedRows:
        noise = phase.noise * min(1.0, step / NOISE_RAMP_STEPS)
        demonstrations = [demonstrate(task, rng, noise) for task in _tasks_of_a_step(phase)]
        return pack([tokenize(self.tokenizer, shown) for shown in demonstrations], self.tokenizer.pad_id)

    def _update(self, rows: PackedRows, optimizers: Sequence[torch.optim.Optimizer], learning_rate: float) -> Tensor:
        device = next(self.model.parameters()).device
        logits_NV = answer_logits(self.model, rows)
        loss = F.cross_entropy(logits_NV, rows.targets.to(device))
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(self.model.parameters(), MAX_GRAD_NORM)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = learning_rate
            optimizer.step()
            optimizer.zero_grad()
        return loss.detach()


def _tasks_of_a_step(phase: Phase) -> list[Task]:
    tasks = [task for name, count in phase.per_step.items() for task in [make_task(name)] * count]
    if phase.long_texts:
        tasks.append(make_task("sort", min_size=LONG_SORT[0], max_size=LONG_SORT[1]))
        tasks.append(make_task("reverse", min_size=LONG_REVERSE[0], max_size=LONG_REVERSE[1]))
    return tasks


def make_optimizers(model: Decoder) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for the embedding and the norms."""
    matrices = [parameter for parameter in model.model.layers.parameters() if parameter.dim() == 2]
    chosen = {id(parameter) for parameter in matrices}
    others = [parameter for parameter in model.parameters() if id(parameter) not in chosen]
    return [
        torch.optim.Muon(matrices, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, betas=(0.9, 0.98), fused=True),
    ]


def learning_rate_share(step: int, steps: int) -> float:
    """Linear warm-up over 50 steps (a tenth of a short phase), then linear decay to 2 %."""
    warmup = min(WARMUP_STEPS, max(1, steps // 10))
    if step < warmup:
        return (step + 1) / warmup
    return 1.0 - (1.0 - FINAL_LR_SHARE) * (step - warmup) / max(1, steps - warmup)


def tokenize(tokenizer: Tokenizer, shown: Demonstration) -> TokenText:
    """Turn a demonstration into ids; the answer ends with the end token."""
    return TokenText(tokenizer.encode_prompt(shown.prompt), [*tokenizer.encode(shown.text), min(tokenizer.eos_ids)])


def answer_logits(model: Decoder, rows: PackedRows) -> Tensor:
    """Return the logits (N, vocabulary) that predict the answer tokens."""
    device = next(model.parameters()).device
    logits_RTV: Tensor = model(
        rows.ids.to(device), positions=rows.positions.to(device), attention_mask=rows.mask.to(device)
    )
    return logits_RTV.flatten(0, 1)[rows.places.to(device)]


def accuracy(model: Decoder, tokenizer: Tokenizer, problems: Sequence[Problem]) -> TaskAccuracy:
    """Measure greedy and expected sampled accuracy on problems with answers, in one forward pass."""
    shown = [Demonstration(problem.prompt, str(problem.answer)) for problem in problems]
    rows = pack([tokenize(tokenizer, one) for one in shown], tokenizer.pad_id)
    with torch.no_grad():
        logps_NV = answer_logits(model, rows).float().log_softmax(-1).cpu()
    logps_N = logps_NV.gather(1, rows.targets[:, None])[:, 0]
    wrong_N = (logps_NV.argmax(-1) != rows.targets).float()
    zeros = torch.zeros(len(problems))
    sampled = zeros.index_add(0, rows.text_of, logps_N).exp().mean().item()
    greedy = (zeros.index_add(0, rows.text_of, wrong_N) == 0).float().mean().item()
    return TaskAccuracy(greedy, sampled)
