"""One process of TRL: `python -m grpo_gui.handover.run_job FOLDER`, which torchrun or accelerate start N times."""

import json
import os
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from torch.distributed.elastic.multiprocessing.errors import record

from grpo_gui.errors import MissingExtraError, TrainingError
from grpo_gui.handover.job import MODEL, OUTPUT, Job, read_job
from grpo_gui.handover.lifeline import end_with_supervisor
from grpo_gui.handover.options import Options, current_names, train_rows
from grpo_gui.handover.placement import MISSING
from grpo_gui.handover.reward_sources import RewardSource, TrlReward
from grpo_gui.handover.rows import Row, drawn_rows, row_of
from grpo_gui.tasks.reward_process import close_reward
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.run_task import task_of

FINAL = "model"  # in the output folder: the trained model


@record
def main() -> None:
    """Train a job to its end. torchrun is told the error when there is one."""
    end_with_supervisor()
    folder = Path(sys.argv[1]).resolve()
    run_job(folder, read_job(folder))


def run_job(folder: Path, job: Job) -> None:
    """Train as one of the job's processes.

    Raises:
        TrainingError: there are fewer or more processes than the job asks for.
        BadInputError: the data cannot be used.
        MissingExtraError: TRL is not installed.
    """
    check_world_size(job)
    import torch

    try:
        from datasets import Dataset, disable_progress_bars
        from trl.trainer.grpo_config import GRPOConfig
    except ImportError as error:
        raise MissingExtraError(MISSING) from error
    from grpo_gui.outside.trl import GrpoGuiTrainer

    disable_progress_bars()
    torch.set_num_threads(job.config.threads)
    model = str(folder / MODEL) if job.config.model == "builtin" else job.config.model
    options = current_names(with_processor(job.options), {one.name for one in fields(GRPOConfig)})
    train, held_out = _data(job.config, model)
    rewards = reward_functions(job.config)
    trainer = GrpoGuiTrainer(
        model=model,
        args=GRPOConfig(output_dir=str(folder / OUTPUT), run_name=job.name, **options),
        reward_funcs=rewards,
        train_dataset=Dataset.from_list(train),
        eval_dataset=Dataset.from_list(held_out) if held_out else None,
        peft_config=_adapter(job.config),
    )
    try:
        trainer.train()
    finally:
        for reward in rewards:
            close_reward(reward)
    trainer.save_model(str(folder / OUTPUT / FINAL))


def check_world_size(job: Job) -> None:
    """Make sure that as many processes were started as the job asks for: some launchers quietly start fewer.

    Raises:
        TrainingError: there are others.
    """
    started, wanted = int(os.environ.get("WORLD_SIZE", "1")), job.place.world_size
    if started != wanted:
        raise TrainingError(
            f"{started} process(es) were started (WORLD_SIZE), but the job asks for {wanted}; start it with the "
            "command that the run form shows."
        )


def with_processor(options: Options) -> Options:
    """The options, with the processor chosen where there is no accelerator and nobody has said so."""
    import torch

    if "use_cpu" in options or torch.cuda.is_available() or torch.backends.mps.is_available():
        return options
    return {**options, "use_cpu": True}


def reward_functions(config: TrainConfig) -> list[TrlReward]:
    """The reward sources of a config in their order; that of people comes from the bridge."""
    return [
        _human(spec.name, config.rating_mode) if spec.kind == "human" else RewardSource(spec) for spec in config.rewards
    ]


def _human(name: str, rating_mode: str) -> TrlReward:
    from grpo_gui.outside.trl import HumanRating

    rating = HumanRating(wait_s=None if rating_mode == "wait" else 0.0)
    rating.__name__ = name
    return rating


def _data(config: TrainConfig, model: str) -> tuple[list[Row], list[Row]]:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=True)
    how: dict[str, Any] = {"has_template": bool(tokenizer.chat_template), "suffix": prompt_suffix(Path(model))}
    task = task_of(config)
    held_out = task.held_out(config.eval_prompts) if config.eval_steps else []
    return drawn_rows(config, task, train_rows(config), **how), [row_of(one, config, **how) for one in held_out]


def prompt_suffix(model: Path) -> str:
    """The text that ends a prompt of this program's own models; "" for all others."""
    try:
        settings = json.loads((model / "tokenizer_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(settings.get("grpo_gui_prompt_suffix", ""))


def _adapter(config: TrainConfig) -> Any:  # noqa: ANN401 - peft has no types
    if not config.lora_rank:
        return None
    try:
        from peft import LoraConfig
    except ImportError as error:
        raise MissingExtraError('peft is missing; install it with: pip install "grpo-gui[hf]".') from error
    rank = config.lora_rank
    return LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type="CAUSAL_LM")


if __name__ == "__main__":
    main()
