"""What the bridge records of the samples of a TRL trainer, on its own rank. Needs torch only through its arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grpo_gui.outside.texts import text_of
from grpo_gui.outside.trl_record import Recorder

if TYPE_CHECKING:
    import torch

SHOWN_PROMPT = "grpo_gui_prompt"  # a column with the prompts as people see them, where TRL's hold more
_ANSWER_COLUMNS = ("answer", "solution", "ground_truth", "target")
DIGITS = 6  # of log-probabilities and entropies


@dataclass(slots=True)
class Batch:
    """The newest samples of this rank. `first` is the global number of its first row."""

    mode: str
    step: int
    generation: int
    first: int
    lengths: list[int]  # tokens of each completion
    has_scores: bool = False

    @property
    def count(self) -> int:
        """Completions of this rank."""
        return len(self.lengths)

    @property
    def rows(self) -> list[int]:
        """The global numbers of its rows."""
        return list(range(self.first, self.first + self.count))


class SampleRecorder:
    """Records the samples of one trainer: first as they are, then with their rewards and advantages."""

    def __init__(self, trainer: Any, recorder: Recorder) -> None:  # noqa: ANN401  # any version of TRL's GRPOTrainer
        self.recorder = recorder
        self.batch: Batch | None = None
        self._trainer = trainer
        self._texts: dict[int, str] = {}

    def samples(
        self,
        prompts: Sequence[object],
        completions: Sequence[object],
        ids: Sequence[Sequence[int]],
        columns: Mapping[str, Sequence[object]],
    ) -> Batch:
        """Record fresh samples once, whoever asks first: the observer, the ratings or the trainer itself."""
        trainer, mode = self._trainer, "train" if self._trainer.model.training else "eval"
        if self.batch is not None and not self.batch.has_scores and self.batch.mode == mode:
            return self.batch
        if mode == "train":
            self.recorder.generation += 1
        first = trainer.accelerator.process_index * len(prompts)
        size = trainer.num_generations if mode == "train" else trainer.num_generations_eval
        batch = Batch(mode, trainer.state.global_step + 1, self.recorder.generation, first, list(map(len, ids)))
        ends = {*trainer.eos_token_ids, trainer.processing_class.pad_token_id}
        shown = columns.get(SHOWN_PROMPT, prompts)
        answers = next((columns[name] for name in _ANSWER_COLUMNS if name in columns), None)
        events = [
            {
                "mode": mode,
                "generation": batch.generation,
                "size": size,
                "group": (first + i) // size,
                "index": (first + i) % size,
                "row": first + i,
                "prompt": text_of(shown[i]),
                "completion": text_of(completions[i]),
                "tokens": list(map(int, ids[i])),
                "texts": [self._text_of(int(token)) for token in ids[i]],
                "truncated": bool(len(ids[i])) and int(ids[i][-1]) not in ends,
                "answer": None if answers is None or answers[i] is None else text_of(answers[i]),
            }
            for i in range(len(prompts))
        ]
        self.recorder.write("completion", batch.step, events)
        self.batch = batch
        return batch

    def _text_of(self, token: int) -> str:
        if token not in self._texts:
            self._texts[token] = str(self._trainer.processing_class.decode([token]))
        return self._texts[token]

    def scores(
        self,
        rewards: Mapping[str, Sequence[float]],
        advantages: Sequence[float],
        output: "Mapping[str, torch.Tensor] | None" = None,
    ) -> None:
        """Record rewards and advantages of the newest samples of this rank, and what the trainer made of their tokens.

        Rewards are unweighted; NaN is no opinion.
        """
        batch = self.batch
        if batch is None or batch.has_scores:
            return
        batch.has_scores = True
        if batch.mode == "eval":
            return
        opinions = {name: [None if value != value else value for value in values] for name, values in rewards.items()}
        weights = dict(zip(self._trainer.reward_func_names, self._trainer.reward_weights.tolist(), strict=False))
        totals = [_total(opinions, weights, row) for row in range(batch.count)]
        event: dict[str, object] = {"generation": batch.generation, "rows": batch.rows, "rewards": opinions}
        event |= {"reward": totals, "advantages": list(advantages)}
        if output is not None:
            event |= _token_values(output, batch.lengths)
        self.recorder.write("scores", batch.step, [event])

    def scores_from_log(self) -> None:
        """Record the scores that TRL keeps for its own log of completions: all that an observer can see of them."""
        batch, logs = self.batch, getattr(self._trainer, "_logs", None)
        if batch is None or batch.has_scores or not logs:
            return
        everything = batch.count * self._trainer.accelerator.num_processes
        advantages = list(logs["advantages"])[-everything:]
        own = slice(batch.first, batch.first + batch.count)
        rewards = {name: list(values)[-everything:][own] for name, values in logs["rewards"].items()}
        if len(advantages) == everything and all(len(values) == batch.count for values in rewards.values()):
            self.scores(rewards, advantages[own])

    def update(self, rows: "torch.Tensor", logps: "torch.Tensor", entropy: "torch.Tensor") -> None:
        """Record the log-probabilities (B, T) and entropies (B, T) of an inner update; `rows` are local numbers."""
        batch = self.batch
        if batch is None or batch.mode == "eval":
            return
        places = rows.tolist()
        lengths = [batch.lengths[place] for place in places]
        event = {
            "generation": batch.generation,
            "rows": [batch.first + place for place in places],
            "logps": _rows(logps, lengths),
            "entropy": _rows(entropy, lengths),
        }
        self.recorder.write("update", self._trainer.state.global_step + 1, [event])


def _total(opinions: Mapping[str, Sequence[float | None]], weights: Mapping[str, float], row: int) -> float | None:
    spoken = [weights.get(name, 1.0) * value for name, values in opinions.items() if (value := values[row]) is not None]
    return sum(spoken) if spoken else None


def _token_values(output: "Mapping[str, torch.Tensor]", lengths: Sequence[int]) -> dict[str, object]:
    mask = output["completion_mask"].tolist()
    values: dict[str, object] = {"mask": [row[:length] for row, length in zip(mask, lengths, strict=True)]}
    for name, key in (("old_logps", "old_per_token_logps"), ("ref_logps", "ref_per_token_logps")):
        if key in output:
            values[name] = _rows(output[key], lengths)
    return values


def _rows(values: "torch.Tensor", lengths: Sequence[int]) -> list[list[float]]:
    rows = values.detach().float().cpu().tolist()
    return [[round(value, DIGITS) for value in row[: int(length)]] for row, length in zip(rows, lengths, strict=True)]
