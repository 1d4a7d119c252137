"""verl: the file logger's JSON lines, and a folder with the rollouts of every step."""

import json
from collections.abc import Iterator

from grpo_gui.outside.names import verl_name
from grpo_gui.outside.pieces import Piece, Sample, SampleRows, ScalarRow, number, whole
from grpo_gui.outside.source import LineSource
from grpo_gui.outside.step_files import StepFile, StepFiles
from grpo_gui.outside.tail import Line
from grpo_gui.outside.texts import text_of

EPS = 1e-6  # verl's group normalisation


def is_verl_log(record: object) -> bool:
    """True for `{"step": n, "data": {...}}`."""
    return isinstance(record, dict) and set(record) == {"step", "data"} and isinstance(record["data"], dict)


def is_verl_rollout(record: object) -> bool:
    """True for a line of rollout_data_dir."""
    return isinstance(record, dict) and {"input", "output", "score"} <= set(record)


class VerlLog(LineSource):
    """`trainer.logger=[file]`: it is truncated when the run is restarted."""

    format = "verl"
    eps = EPS
    name_of = staticmethod(verl_name)

    def parse(self, line: Line) -> Iterator[Piece]:
        """One step a line."""
        record = self.json_object(line)
        if record is None:
            return
        step, data = whole(record.get("step")), record.get("data")
        if step is None or not isinstance(data, dict):
            self.note(line, "a step and its data are needed")
            return
        values = {name: value for name, raw in data.items() if (value := number(raw)) is not None}
        if values:
            yield ScalarRow(step, values, may_restart=self.restarts_at(step))


class VerlRollouts(StepFiles):
    """`trainer.rollout_data_dir`: one `{step}.jsonl` a step, a line a completion, without advantages."""

    format = "verl"
    eps = EPS
    name_of = staticmethod(verl_name)
    pattern = r"(\d{1,12})\.jsonl"

    def read_file(self, file: StepFile, *, is_left: bool) -> SampleRows | None:
        """All lines of a step but those that cannot be read."""
        samples: list[Sample] = []
        lines = file.path.read_bytes().split(b"\n")
        for place, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                samples.append(_sample(line))
            except ValueError as error:
                is_torn = place == len(lines)  # no newline after it
                if is_torn and not is_left:
                    return None
                self.leave_out(file, f"line {place}", "it was never written to its end" if is_torn else str(error))
        return SampleRows(file.step, tuple(samples), file.name)


def _sample(line: bytes) -> Sample:
    """One completion; raises ValueError where the line holds none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON ({error})") from error
    if not is_verl_rollout(record):
        raise ValueError("no input, output or score")
    score = number(record["score"])
    return Sample(
        prompt=text_of(record["input"]),
        text=text_of(record["output"]),
        rewards=(("score", score),),
        reward=score,
        answer=None if record.get("gts") is None else text_of(record["gts"]),
        group=None if record.get("uid") is None else str(record["uid"]),
    )
