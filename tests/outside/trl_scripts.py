"""Tiny TRL runs, as users' scripts have them: `python -m tests.outside.trl_scripts KIND MODEL FOLDER`."""

import json
import sys
from pathlib import Path

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer


def digits(completions, **_):
    return [sum(c.isdigit() for c in text) / max(len(text), 1) for text in completions]


def short(completions, **_):
    return [None if len(text) > 7 else -len(text) / 10 for text in completions]


class Fragile:
    """Fails at its second call."""

    __name__ = "fragile"

    def __init__(self):
        self.calls = 0

    def __call__(self, completions, **_):
        self.calls += 1
        if self.calls == 2:
            raise ZeroDivisionError("no digits at all")
        return [float(len(text)) for text in completions]


def data_set():
    return Dataset.from_list([{"prompt": f"{a}+{b}=", "answer": str(a + b)} for a in range(4) for b in range(4)])


def config(folder, **changes):
    values = {
        "output_dir": str(folder),
        "per_device_train_batch_size": 8,
        "num_generations": 4,
        "max_completion_length": 8,
        "max_steps": 3,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "use_cpu": True,
        "bf16": False,
        "seed": 3,
        "learning_rate": 1e-2,
        "disable_tqdm": True,
        "reward_weights": [1.0, 0.5],
    }
    return GRPOConfig(**values | changes)


def trainer(kind, model, folder):
    from grpo_gui.outside.trl import GrpoGuiCallback, GrpoGuiTrainer, HumanRating, observer

    common = {"model": model, "train_dataset": data_set()}
    match kind:
        case "callback":
            callbacks = [GrpoGuiCallback()]
            return GRPOTrainer(reward_funcs=[digits, short], args=config(folder), callbacks=callbacks, **common)
        case "crash":
            callbacks = [GrpoGuiCallback()]
            args = config(folder, reward_weights=None)
            return GRPOTrainer(reward_funcs=[Fragile()], args=args, callbacks=callbacks, **common)
        case "observer":
            args = config(folder, reward_weights=[1.0, 0.5, 1.0], log_completions=True, gradient_accumulation_steps=2)
            return GRPOTrainer(reward_funcs=[digits, short, observer], args=args, **common)
        case "subclass":
            args = config(folder, beta=0.1, num_iterations=2, log_completions=True, max_steps=4)
            return GrpoGuiTrainer(reward_funcs=[digits, short], args=args, **common)
        case "steered":
            args = config(folder, max_steps=100_000, reward_weights=[1.0, 1.0])
            return GrpoGuiTrainer(reward_funcs=[digits, HumanRating()], args=args, **common)
        case "rated":
            args = config(folder, max_steps=1, reward_weights=[1.0])
            return GrpoGuiTrainer(reward_funcs=[HumanRating(wait_s=None)], args=args, **common)
    raise ValueError(kind)


def main(kind, model, folder):
    made = trainer(kind, model, folder)
    made.train()
    Path(folder, "truth.json").write_text(json.dumps(made.state.log_history))


if __name__ == "__main__":
    main(*sys.argv[1:])
