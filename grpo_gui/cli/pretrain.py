"""`grpo-gui pretrain`: make the built-in base model anew."""

import sys
from pathlib import Path

import click

from grpo_gui.errors import BadInputError


@click.command()
@click.option(
    "--to", "folder", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder to write."
)
@click.option("--seed", default=0, show_default=True, help="Seed of weights and demonstrations.")
@click.option("--device", default="cpu", show_default=True, help="cpu, cuda:N or mps.")
def pretrain(folder: Path, seed: int, device: str) -> None:
    """Make the base model anew (half an hour on one core); run it again with the same folder to go on."""
    if (folder / "model.safetensors").exists():
        raise BadInputError(f"{folder} holds a finished model already; choose another folder with --to.")
    import torch

    from grpo_gui.training.pretrain import PretrainProgress
    from grpo_gui.training.pretrain import run as pretrain_run

    torch.set_num_threads(1)  # more threads are slower at this size

    def show(progress: PretrainProgress) -> None:
        accuracies = "".join(
            f"  {task} {accuracy.greedy:.3f}/{accuracy.sampled:.3f}" for task, accuracy in progress.accuracies.items()
        )
        click.echo(
            f"phase {progress.phase}, step {progress.step}/{progress.total_steps}: loss {progress.loss:.4f}, "
            f"{progress.tokens_per_second:.0f} tokens/s{accuracies}"
        )
        sys.stdout.flush()

    accuracies = pretrain_run(folder, seed=seed, device=device, on_progress=show)
    assert accuracies is not None  # only a cancel event ends it early, and none is given
    for task, accuracy in accuracies.items():
        click.echo(f"{task}: held-out accuracy {accuracy.greedy:.3f} greedy, {accuracy.sampled:.3f} sampled")
    click.echo(f"The base model is in {folder}.")
