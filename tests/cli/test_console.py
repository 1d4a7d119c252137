"""What a headless run prints."""

import io
import json
import math

from grpo_gui.cli.console import JsonLines, ProgressLine
from grpo_gui.events import EvalCompleted, HyperparameterChanged, RunFailed, RunStatus, StepCompleted, TrainerStatus


def step_event(step, **metrics):
    return StepCompleted(1, step, 2 * step, 100.0 + step, tuple(metrics.items()), ())


def eval_event(step, accuracy):
    return EvalCompleted(1, step, 100.0, (("eval/accuracy", accuracy),))


def json_lines(events, *, steps=4, eval_steps=2):
    out, errors = io.StringIO(), io.StringIO()
    lines = JsonLines(out, errors, steps=steps, eval_steps=eval_steps)
    for event in events:
        lines(event)
    lines.flush()
    return [json.loads(line) for line in out.getvalue().splitlines()], errors.getvalue()


def test_that_each_step_is_one_line_with_its_held_out_metrics():
    events = [eval_event(0, 0.1), step_event(1, loss=0.5), step_event(2, loss=0.25), eval_event(2, 0.9)]
    lines, _ = json_lines(events)
    assert lines == [
        {"step": 1, "optimizer_step": 2, "loss": 0.5},
        {"step": 2, "optimizer_step": 4, "loss": 0.25, "eval/accuracy": 0.9},
    ]


def test_that_a_step_without_due_evaluation_is_printed_at_once():
    out = io.StringIO()
    JsonLines(out, io.StringIO(), steps=4, eval_steps=2)(step_event(1, loss=0.5))
    assert out.getvalue().count("\n") == 1


def test_that_values_which_are_not_finite_are_null():
    lines, _ = json_lines([step_event(1, loss=math.nan, kl=math.inf)])
    assert lines[0]["loss"] is None
    assert lines[0]["kl"] is None


def test_that_a_failure_is_named_on_the_error_stream_after_the_last_step():
    lines, errors = json_lines([step_event(2, loss=0.5), RunFailed(1, 2, "The loss is not finite.", "")])
    assert [line["step"] for line in lines] == [2]
    assert errors == "grpo-gui: The loss is not finite.\n"


def test_that_a_resumed_run_counts_its_pace_from_where_it_went_on(monkeypatch):
    out, times = io.StringIO(), iter([100.0, 102.0])
    monkeypatch.setattr("grpo_gui.cli.console.time.monotonic", lambda: next(times))
    line = ProgressLine(out, steps=10)
    line(HyperparameterChanged(1, 7, "steps", 6.0, 10.0))
    line(HyperparameterChanged(1, 7, "beta", 0.0, 0.04))
    line(step_event(7))
    line(step_event(8))
    printed = out.getvalue().splitlines()
    assert printed[:2] == ["step 7: steps 6 -> 10", "step 7: beta 0 -> 0.04"]
    assert printed[2].endswith("- steps/s  ")
    assert printed[3].endswith("0.5 steps/s  4 s left")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def waits(step, rated, time):
    message = f"Step {step} waits for ratings: {rated} of its 8 groups are rated, 2 are needed (for {time} now)."
    return TrainerStatus(1, RunStatus.WAITING, step - 1, message)


WAITING = [waits(1, 0, "0:00"), waits(1, 0, "0:10"), waits(1, 1, "0:15"), waits(1, 1, "0:25"), waits(2, 0, "0:00")]


def test_that_a_pipe_hears_of_waiting_only_when_something_has_changed():
    out = io.StringIO()
    line = ProgressLine(out, steps=20)
    for event in WAITING:
        line(event)
    assert out.getvalue().splitlines() == [WAITING[place].message for place in (0, 2, 4)]


def test_that_on_a_terminal_the_waiting_time_runs_on_in_one_line():
    out = Terminal()
    line = ProgressLine(out, steps=20)
    for event in WAITING:
        line(event)
    assert "\n" not in out.getvalue()
    assert [part.strip() for part in out.getvalue().split("\r")[1:]] == [event.message for event in WAITING]


def test_that_a_pipe_gets_plain_lines_for_every_tenth_of_the_run():
    out = io.StringIO()
    line = ProgressLine(out, steps=20)
    for step in range(1, 21):
        line(step_event(step, reward=0.5))
    printed = out.getvalue()
    assert "\r" not in printed
    assert [row.split()[1] for row in printed.splitlines()] == ["1/20", *(f"{n}/20" for n in range(2, 21, 2))]


def test_that_messages_of_the_trainer_are_shown_once_and_a_missing_metric_is_a_dash():
    out = io.StringIO()
    line = ProgressLine(out, steps=1)
    line(TrainerStatus(1, RunStatus.WARMING_UP, 0, "Loading the model."))
    line(step_event(1, reward=0.25))
    line(RunFailed(1, 1, "It failed.", ""))
    line(TrainerStatus(1, RunStatus.FAILED, 1, "It failed."))
    printed = out.getvalue()
    assert printed.count("Loading the model.") == 1
    assert printed.count("It failed.") == 1
    assert "reward 0.25" in printed
    assert "kl -" in printed
