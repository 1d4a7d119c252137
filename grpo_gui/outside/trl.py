"""The bridge for TRL: record a run of TRL's, and steer it, without changing what it trains.

Use one of three, the later ones see more: `GrpoGuiCallback` (numbers), the reward function `observer` (also samples,
rewards and advantages), `GrpoGuiTrainer` (also log-probabilities of every token). `human_rating` is a reward function
that takes ratings given in the window.
"""

# ruff: noqa: ARG002  # transformers hands every hook the same arguments

import time
from typing import Any

import torch
from accelerate.utils import broadcast
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from trl.trainer.grpo_trainer import GRPOTrainer

from grpo_gui.outside.control import CONTINUE, PAUSE, RESUME, SNAPSHOT, STOP, ControlReader, RatingReader
from grpo_gui.outside.trl_record import Recorder, folder_for, recorder_for
from grpo_gui.outside.trl_samples import Batch, SampleRecorder
from grpo_gui.outside.trl_start import start_values

PAUSED_POLL_S = 0.2
_FLAGS = (PAUSE, RESUME, STOP, SNAPSHOT)


class GrpoGuiCallback(TrainerCallback):
    """Records the numbers of a run and obeys pause, stop and snapshot: `callbacks=[GrpoGuiCallback()]`."""

    def __init__(self) -> None:
        self.samples: SampleRecorder | None = None  # set by whoever sees the samples
        self._recorder: Recorder | None = None
        self._control: ControlReader | None = None
        self._trainer: Any = None

    def watch(self, trainer: Any, samples: SampleRecorder) -> None:  # noqa: ANN401  # any version of TRL's trainer
        """Take part in the recording of a trainer's samples."""
        self._trainer, self.samples = trainer, samples

    def begin(self, args: TrainingArguments, state: TrainerState) -> Recorder:
        """The recorder; the start is recorded at the first call of a training."""
        if self._recorder is None:
            folder = folder_for(args.output_dir or ".")
            self._recorder = recorder_for(folder, args.process_index)
            self._control = ControlReader(folder)
            self._recorder.start(state.global_step, start_values(args, state, self._trainer))
        return self._recorder

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        """Record the start."""
        self._recorder = None
        self.begin(args, state)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **_: object,
    ) -> None:
        """Record what TRL logs, under its names."""
        if state.is_world_process_zero and logs:
            self.begin(args, state).write("metrics", state.global_step, [{"values": logs}])

    def on_substep_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        """Record scores as soon as TRL has them."""
        if self.samples is not None:
            self.samples.scores_from_log()

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object) -> None:
        """Do what was asked for, on all ranks alike."""
        self.on_substep_end(args, state, control)
        recorder = self.begin(args, state)
        flags = self._flags(args)
        if flags[PAUSE] and not flags[STOP]:
            self._say(recorder, state, "paused")
            while flags[PAUSE] or not (flags[RESUME] or flags[STOP]):
                time.sleep(PAUSED_POLL_S)
                flags = self._flags(args)
            self._say(recorder, state, "running")
        if flags[STOP]:
            control.should_training_stop = True
        control.should_save = control.should_save or flags[SNAPSHOT] or flags[STOP]

    def _flags(self, args: TrainingArguments) -> dict[str, bool]:
        """Which commands came. Rank 0 reads them, the others hear of it."""
        came = self._control.take() if self._control is not None and args.process_index == 0 else []
        flags = torch.tensor([int(command in came) for command in _FLAGS], device=args.device)
        if args.world_size > 1:
            flags = broadcast(flags)
        return dict(zip(_FLAGS, (bool(flag) for flag in flags.tolist()), strict=True))

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object) -> None:
        """Record where the checkpoint lies."""
        if state.is_world_process_zero:
            path = f"{args.output_dir}/checkpoint-{state.global_step}"
            self.begin(args, state).write("snapshot", state.global_step, [{"path": path}])

    def on_train_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object) -> None:
        """Record the end."""
        if self.samples is not None:
            self.samples.scores_from_log()
        status = "finished" if state.global_step >= state.max_steps else "stopped"
        self.begin(args, state).write("end", state.global_step, [{"status": status}])

    def _say(self, recorder: Recorder, state: TrainerState, status: str) -> None:
        if recorder.rank == 0:
            recorder.write("status", state.global_step, [{"status": status}])


def attached(trainer: Any) -> tuple[GrpoGuiCallback, SampleRecorder]:  # noqa: ANN401  # any version of TRL's trainer
    """The callback of a trainer, added where the user has not, and the recorder of its samples."""
    callbacks = trainer.callback_handler.callbacks
    callback = next((one for one in callbacks if isinstance(one, GrpoGuiCallback)), None)
    if callback is None:
        callback = GrpoGuiCallback()
        trainer.add_callback(callback)
    if callback.samples is None:
        folder = folder_for(trainer.args.output_dir)
        callback.watch(trainer, SampleRecorder(trainer, recorder_for(folder, trainer.accelerator.process_index)))
    assert callback.samples is not None  # `watch` has set it
    return callback, callback.samples


def watched(trainer: Any) -> SampleRecorder:  # noqa: ANN401  # any version of TRL's trainer
    """The recorder of the samples of a trainer that trains."""
    callback, samples = attached(trainer)
    callback.begin(trainer.args, trainer.state)
    return samples


def _batch_of(arguments: dict[str, Any]) -> tuple[SampleRecorder, Batch]:
    """The recorded samples of a call of a reward function: TRL hands it a method of the trainer."""
    recording = watched(arguments["log_metric"].__self__)
    columns = {name: value for name, value in arguments.items() if isinstance(value, list)}
    batch = recording.samples(arguments["prompts"], arguments["completions"], arguments["completion_ids"], columns)
    return recording, batch


def observer(**arguments: Any) -> list[None]:  # noqa: ANN401  # whatever columns the data set has
    """A reward function without opinion, so that rewards stay as they are; it records the samples of its rank.

    Works from TRL's command line too: `--reward_funcs your_reward grpo_gui.outside.trl.observer`.
    """
    _batch_of(arguments)
    return [None] * len(arguments["prompts"])


class HumanRating:
    """A reward function that asks a person: it waits for ratings, or takes those that are there.

    `wait_s` is how long to wait for the ratings of a batch in seconds, None for as long as it takes. Completions that
    nobody has rated by then get no opinion.
    """

    def __init__(self, wait_s: float | None = 0.0) -> None:
        self.__name__ = "human_rating"
        self.wait_s = wait_s

    def __call__(self, **arguments: Any) -> list[float | None]:  # noqa: ANN401  # whatever columns the data set has
        """Ratings of this rank's completions, in their order."""
        recording, batch = _batch_of(arguments)
        if batch.mode == "eval":
            return [None] * batch.count
        recorder = recording.recorder
        event = {"generation": batch.generation, "rows": batch.rows, "waits": self.wait_s != 0}
        recorder.write("rate", batch.step, [event])
        ratings = RatingReader(recorder.folder)
        control = ControlReader(recorder.folder)
        end = None if self.wait_s is None else time.monotonic() + self.wait_s
        while True:
            found = ratings.ratings(recorder.session, batch.generation)
            is_over = end is not None and time.monotonic() >= end
            if is_over or all(row in found for row in batch.rows) or {CONTINUE, STOP} & set(control.take()):
                return [found.get(row) for row in batch.rows]
            time.sleep(PAUSED_POLL_S)


human_rating = HumanRating()
human_rating_waiting = HumanRating(wait_s=None)


class GrpoGuiTrainer(GRPOTrainer):
    """TRL's GRPOTrainer that also records rewards, advantages, masks and log-probabilities. It trains the same."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  # TRL's own arguments
        super().__init__(*args, **kwargs)
        self._seen: list[tuple[torch.Tensor, torch.Tensor]] | None = None
        self._rewards = torch.empty(0)
        attached(self)

    def _calculate_rewards(self, inputs: Any, prompts: Any, completions: Any, completion_ids_list: Any) -> torch.Tensor:  # noqa: ANN401  # TRL's own types
        columns = {name: [example.get(name) for example in inputs] for name in inputs[0]}
        watched(self).samples(prompts, completions, completion_ids_list, columns)
        self._rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
        return self._rewards

    def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:  # noqa: ANN401  # TRL's own types
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        count, first = len(inputs), self.accelerator.process_index * len(inputs)
        own = self._rewards[first : first + count].T.tolist()
        rewards = dict(zip(self.reward_func_names, own, strict=True))
        watched(self).scores(rewards, output["advantages"].tolist(), output)
        output["grpo_gui_rows"] = torch.arange(count, device=output["advantages"].device)
        return output

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  # TRL's own types
        result = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        if self._seen is not None and result[1] is not None:
            self._seen.append((result[0].detach(), result[1].detach()))
        return result

    def _compute_loss(self, model: Any, inputs: Any) -> torch.Tensor:  # noqa: ANN401  # TRL's own types
        self._seen = []
        loss: torch.Tensor = super()._compute_loss(model, inputs)  # type: ignore[no-untyped-call]  # TRL's
        seen, self._seen = self._seen, None
        if model.training and seen and "grpo_gui_rows" in inputs:
            watched(self).update(inputs["grpo_gui_rows"], *seen[0])
        return loss
