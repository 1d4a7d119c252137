"""`grpo-gui rewards`: try reward functions of a file before a run."""

from collections.abc import Sequence

import click

from grpo_gui.tasks.bench import BenchReward, BenchRow, fuzz_texts, run_bench
from grpo_gui.tasks.problem import Problem
from grpo_gui.tasks.reward_file import confirm, parse_choice
from grpo_gui.training.config import RewardSpec

SHOWN_TEXT = 40


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE.py[:NAME]...")
@click.option("--prompt", default="What is 2 + 2?", show_default=True, help="The prompt that is answered.")
@click.option("--answer", default="4", show_default=True, help="Its answer, for rewards that compare with it.")
@click.option("--chat", "as_chat", is_flag=True, help="Hand over messages, as for data whose prompts are chats.")
@click.option("--text", "texts", multiple=True, help="A completion to score, beside the usual tricks; repeatable.")
def rewards(files: tuple[str, ...], prompt: str, answer: str, texts: tuple[str, ...], as_chat: bool) -> None:
    """Score texts and the usual tricks with reward functions of yours.

    Naming a file here confirms that its code may be run, as it is now. Exit code 1 when a function failed.
    """
    chosen = rewards_from_files(files)
    problem = Problem("file", prompt, answer, {}, (("user", prompt),) if as_chat else ())
    completions = [("typed", text) for text in texts] + fuzz_texts(problem, [str(number) for number in range(10)])
    rows = run_bench([BenchReward(spec.name, spec.kind, spec.argument) for spec in chosen], problem, completions)
    click.echo("\n".join(_lines(chosen, rows)))
    failed = any(isinstance(value, str) for row in rows for value in row.values)
    raise SystemExit(1 if failed else 0)


def rewards_from_files(files: Sequence[str]) -> tuple[RewardSpec, ...]:
    """Return the reward sources that `FILE.py[:NAME=WEIGHT]` texts name, and confirm the files.

    Raises:
        BadInputError: a file cannot be used, or has no such function.
    """
    specs: list[RewardSpec] = []
    chosen = [pair for text in files for pair in parse_choice(text)]
    for reference, weight in chosen:
        confirm(reference.path)
        twice = sum(other.function == reference.function for other, _ in chosen) > 1
        name = f"{reference.path.stem}.{reference.function}" if twice else reference.function
        specs.append(RewardSpec(name, "python", weight, str(reference)))
    return tuple(specs)


def _lines(chosen: Sequence[RewardSpec], rows: Sequence[BenchRow]) -> list[str]:
    lines = []
    for row in rows:
        shown = row.completion if len(row.completion) <= SHOWN_TEXT else row.completion[:SHOWN_TEXT] + "\u2026"
        lines.append(f"{row.label} ({len(row.completion)} characters): {shown!r}")
        for spec, value, details in zip(chosen, row.values, row.details, strict=True):
            match value:
                case None:
                    lines.append(f"    {spec.name}: no opinion")
                case str():
                    lines.append(f"    {spec.name}: {value}")
                    lines += [f"        {line}" for line in details.splitlines()]
                case _:
                    lines.append(f"    {spec.name}: {value:g}")
    return lines
