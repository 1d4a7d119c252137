"""How fast a training step is, and how near to its own matrix products; the options and JSON fields of a TRL peer.

    python -m benchmarks.trainer [--threads 1 --steps 12 --layers 4 --width 128 --prompts 8 --group 8
        --prompt-tokens 32 --new 16 --beta 0.04 --inner 1] [--json]

Random Llama weights, fp32, CPU; P prompts of exactly --prompt-tokens tokens, G completions each of exactly --new
tokens, AdamW, loss grpo. A step is what a run does: rollout, reward, reference, loss, backward, optimizer, and the
samples as records. The step's matrix products alone are timed between the steps. Medians over the steps after two of
warm-up.
"""

import argparse
import json
import platform
import random
import resource
import statistics
import time
from pathlib import Path

import torch

from benchmarks._matrix_products import MatrixProducts, StepShape
from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.decoder import Decoder
from grpo_gui.language.kernels import prefers_onednn
from grpo_gui.language.memory import keep_freed_memory
from grpo_gui.language.policy import LanguagePolicy
from grpo_gui.language.tokenizer import SpecialTokens, Tokenizer, build_builtin_tokenizer
from grpo_gui.tasks.problem import Problem
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.training.learner import Learner
from grpo_gui.training.samples import group_samples

WARM_UP = 2
CHARACTERS = "0123456789+"


class FixedLengthTask:
    """Prompts of exactly `length` tokens: the beginning, random digits and signs, the newline."""

    name = "fixed length"

    def __init__(self, length: int) -> None:
        self._characters = length - 2

    def sample(self, rng: random.Random) -> Problem:
        """Draw a prompt."""
        return Problem(self.name, "".join(rng.choice(CHARACTERS) for _ in range(self._characters)), None)

    def held_out(self, count: int, seed: int = 0) -> list[Problem]:
        """Draw prompts of their own; the benchmark evaluates nothing."""
        rng = random.Random(seed)
        return [self.sample(rng) for _ in range(count)]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, default in (
        *(("--threads", 1), ("--steps", 12), ("--layers", 4), ("--width", 128), ("--prompts", 8), ("--group", 8)),
        *(("--prompt-tokens", 32), ("--new", 16), ("--inner", 1)),
    ):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--beta", type=float, default=0.04)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def make_policy(args: argparse.Namespace) -> LanguagePolicy:
    config = DecoderConfig(
        hidden_size=args.width,
        intermediate_size=4 * args.width,
        num_hidden_layers=args.layers,
        head_dim=args.width // 4,
        max_position_embeddings=args.prompt_tokens + args.new + 8,
    )
    decoder = Decoder(config)
    decoder.initialize(torch.Generator().manual_seed(0))
    builtin = build_builtin_tokenizer()
    # no end token: every completion has the full length
    endless = SpecialTokens(builtin.pad_id, builtin.bos_id, frozenset(), builtin.special.prompt_suffix)
    return LanguagePolicy(decoder, Tokenizer(builtin.raw, endless))


def make_learner(args: argparse.Namespace, policy: LanguagePolicy) -> Learner:
    config = TrainConfig(
        steps=args.steps,
        prompts_per_step=args.prompts,
        num_generations=args.group,
        num_iterations=args.inner,
        max_completion_length=args.new,
        beta=args.beta,
        learning_rate=1e-3,
        threads=args.threads,
        rewards=(RewardSpec("digit", "regex", 1.0, r"\d"),),
    )
    return Learner(config, policy, FixedLengthTask(args.prompt_tokens))


def processor() -> str:
    """The processor's name; where the system's library has none, as the kernel prints it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return f"{fields.get('model name')} (family {fields.get('cpu family')}, model {fields.get('model')})"


def measure(args: argparse.Namespace) -> dict[str, object]:
    torch.set_num_threads(args.threads)
    keep_freed_memory()
    policy = make_policy(args)
    learner = make_learner(args, policy)
    shape = StepShape(args.prompts, args.group, args.prompt_tokens, args.new, args.inner)
    products = MatrixProducts(policy.config, shape)
    step_s, generation_s, products_s = [], [], []
    for _ in range(args.steps):
        start = time.perf_counter()
        finished = learner.do_step(lambda: None)
        group_samples(finished.rollout, finished.last_update, policy.tokenizer, learner.scorer.sources)
        step_s.append(time.perf_counter() - start)
        generation_s.append(learner.clock.parts["rollout"])
        products_s.append(products.seconds())
    tokens = sum(len(ids) for ids in finished.rollout.read.completion_ids)
    step, generation, alone = (statistics.median(times[WARM_UP:]) for times in (step_s, generation_s, products_s))
    return {
        "config": {name: value for name, value in vars(args).items() if name != "json"},
        "parameters": sum(parameter.numel() for parameter in policy.parameters()),
        "step_s": round(step, 4),
        "step_s_min": round(min(step_s[WARM_UP:]), 4),
        "generation_s": round(generation, 4),
        "generation_tokens_per_s": round(tokens / generation),
        "tokens_per_step": tokens,
        "end_to_end_tokens_per_s": round(tokens / step),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "matrix_products_s": round(alone, 4),
        "matrix_products_s_min": round(min(products_s[WARM_UP:]), 4),
        "matrix_products_gflop_per_s": round(products.gflop / alone),
        "step_over_matrix_products": round(step / alone, 2),
        "kernel": "oneDNN" if prefers_onednn() else "torch",
        "torch": torch.__version__,
        "processor": processor(),
    }


def main() -> None:
    args = options()
    result = measure(args)
    if args.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:>30}  {value}")


if __name__ == "__main__":
    main()
