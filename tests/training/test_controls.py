import queue

from grpo_gui.commands import Command, HandOver, Pause, Resume, SetHyperparameters, Step, Stop
from grpo_gui.training.controls import Controls, Wish


def after(*commands: Command) -> Controls:
    waiting: queue.SimpleQueue[Command] = queue.SimpleQueue()
    for command in commands:
        waiting.put(command)
    controls = Controls(waiting)
    controls.poll()
    return controls


def test_that_a_trainer_runs_when_nobody_says_otherwise():
    assert after().wish is Wish.RUN


def test_that_the_newest_of_pause_and_resume_counts():
    assert after(Pause()).wish is Wish.PAUSE
    assert after(Pause(), Resume()).wish is Wish.RUN
    assert after(Resume(), Pause()).wish is Wish.PAUSE


def test_that_a_stop_cannot_be_taken_back():
    assert after(Stop(), Resume(), Pause(), HandOver()).wish is Wish.STOP


def test_that_a_stop_comes_before_a_hand_over():
    assert after(HandOver(), Resume()).wish is Wish.HAND_OVER
    assert after(HandOver(), Stop()).wish is Wish.STOP


def test_that_a_single_step_pauses_when_it_is_done():
    controls = after(Pause(), Step())
    assert controls.wish is Wish.RUN
    controls.step_done()
    assert controls.wish is Wish.PAUSE


def test_that_a_resume_takes_back_the_single_step():
    controls = after(Step(), Resume())
    controls.step_done()
    assert controls.wish is Wish.RUN


def test_that_changes_are_handed_out_once_in_order():
    first, second = SetHyperparameters(beta=0.1), SetHyperparameters(beta=0.2)
    controls = after(first, Pause(), second)
    assert controls.take_changes() == [first, second]
    assert controls.take_changes() == []


def test_that_waiting_ends_without_a_command_when_the_time_is_over():
    controls = after()
    controls.wait(0.001)
    assert controls.wish is Wish.RUN
