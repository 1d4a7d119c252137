"""Whether and from where a run can go on, and with how many steps. Free of torch."""

from dataclasses import replace

from grpo_gui.errors import BadInputError
from grpo_gui.events import RunStatus
from grpo_gui.store.records import RunRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.validation import config_from_json


def begins_anew(run: RunRecord) -> bool:
    """True when a run was cut off before it saved a state: the same seed gives it the same numbers from the start.

    Raises:
        BadInputError: it is a branch, whose beginning lies in another run, or the router's network.
    """
    _refuse_router(run)
    if run.state_path is not None:
        return False
    if run.parent_run_id is not None:
        raise BadInputError(
            f"Run {run.id} was cut off before it saved a state; branch again from run {run.parent_run_id} at step "
            f"{run.parent_step}."
        )
    return True


def config_to_resume(run: RunRecord, steps: str | None = None, from_step: int | None = None) -> TrainConfig:
    """The config with which a run goes on.

    Args:
        run: as the database has it.
        steps: "+N" adds steps, "N" is a new total, None leaves them.
        from_step: complete steps in the snapshot that it goes on from; None: all that it has done.

    Raises:
        BadInputError: the run trains already, has nothing left to do, is the router's network, or `steps` is no number
            that adds to it.
    """
    _refuse_router(run)
    if run.status.is_active:
        raise BadInputError(f"Run {run.id} is {run.status.value} now; stop it before it is resumed.")
    config = config_from_json(run.config)
    total = _total(config.steps, steps)
    done = run.steps_done if from_step is None else from_step
    if total <= done and (run.status is RunStatus.FINISHED or steps is not None or from_step is not None):
        raise BadInputError(
            f"Run {run.id} has done {done} of {total} steps already; add some with --steps +N (the learning rate then "
            "follows the longer schedule)."
        )
    return replace(config, steps=total)


def _refuse_router(run: RunRecord) -> None:
    if run.origin == "router":
        raise BadInputError(f"Run {run.id} is the router's network: it learns by itself when answers are rated.")


def _total(steps: int, text: str | None) -> int:
    if text is None:
        return steps
    number = text.removeprefix("+")
    if not number.isdecimal():
        raise BadInputError(f"--steps is +N (so many more) or N (a new total); it is {text!r}.")
    return steps + int(number) if text.startswith("+") else int(number)
