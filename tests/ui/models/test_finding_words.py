import numpy as np

from grpo_gui.diagnose.finding import FindingState, Moment
from grpo_gui.diagnose.reading import Severity
from grpo_gui.store.records import SeriesPoints
from grpo_gui.ui.models.finding_words import all_in_order, health_cell, row_words
from grpo_gui.ui.models.run_health import RunHealth
from grpo_gui.ui.models.run_series import RunSeries
from tests.ui.broken_run import finding
from tests.ui.fakes import step_completed


def run_with(**metrics):
    run = RunSeries(1)
    for step in range(1, 31):
        run.take(step_completed(1, step, **metrics))
    return run


def test_that_one_finding_is_named_with_its_severity_and_onset():
    cell = health_cell(RunHealth(1, findings=(finding(),)), run_with(frac_reward_zero_std=0.6))
    assert (cell.headline, cell.unit, cell.tone) == ("1 finding", "warning, since step 5", "warn")
    assert cell.sentence == "Dead groups: 62 % of the groups in the last 20 steps taught nothing."
    assert cell.shorter[-1] == "Dead groups"


def test_that_at_most_three_findings_are_counted_and_the_first_is_named():
    four = tuple(finding(f"d{number}", title=f"Trouble {number}") for number in range(4))
    cell = health_cell(RunHealth(1, findings=four), run_with())
    assert cell.headline == "3 findings"
    assert cell.sentence == "Trouble 0, trouble 1, trouble 2"
    assert cell.shorter == ("Trouble 0 and 2 more",)


def test_that_a_muted_finding_is_neither_counted_nor_named():
    health = RunHealth(1, findings=(finding(),), muted=frozenset({"dead_groups"}))
    assert health_cell(health, run_with(frac_reward_zero_std=0.6)).headline == "No finding"


def test_that_a_solved_task_is_a_status():
    cell = health_cell(RunHealth(1, solved_since=20), run_with(frac_reward_zero_std=0.9))
    assert (cell.headline, cell.unit, cell.tone) == ("Solved", "since step 20", "good")


def test_that_a_task_is_nearly_solved_while_held_out_prompts_say_otherwise():
    run = run_with(frac_reward_zero_std=0.5)
    run.take(step_completed(1, 31, **{"frac_reward_zero_std": 0.5, "eval/accuracy": 0.83}))
    assert health_cell(RunHealth(1, solved_since=17), run).headline == "Nearly solved"
    run.take(step_completed(1, 32, **{"frac_reward_zero_std": 0.5, "eval/accuracy": 0.95}))
    assert health_cell(RunHealth(1, solved_since=17), run).headline == "Solved"


def test_that_values_which_are_not_finite_are_said_before_any_finding():
    run = run_with(frac_reward_zero_std=0.1)
    points = SeriesPoints("loss", "", np.array([31]), np.array([np.nan]))
    run.series("loss").extend(points.steps, points.values)
    assert health_cell(RunHealth(1), run).tone == "bad"


def test_that_a_symptom_names_its_root():
    root = finding("copies", title="Copies instead of answers")
    symptom = finding(root="copies", state=FindingState.SYMPTOM)
    health = RunHealth(1, findings=(root, symptom))
    assert row_words(symptom, health) == ("caused by: copies instead of answers", "step 5")
    of_none = finding(root="length_grows", state=FindingState.SYMPTOM)
    assert row_words(of_none, RunHealth(1, findings=(of_none,)))[0] == "caused by: answers keep growing"
    assert health.symptoms_of("copies") == (symptom,)


def test_that_a_closed_finding_says_when_it_ended():
    closed = finding(state=FindingState.CLOSED, history=(Moment(9, "opened"), Moment(60, "closed: not seen any more")))
    assert row_words(closed, RunHealth(1, findings=(closed,))) == ("closed: not seen any more at step 60", "closed")


def test_that_open_findings_stand_before_symptoms_muted_and_closed_ones():
    closed = finding("a", state=FindingState.CLOSED)
    symptom = finding("b", state=FindingState.SYMPTOM, root="d")
    muted, severe = finding("c"), finding("d", severity=Severity.SEVERE)
    health = RunHealth(1, findings=(muted, closed, symptom, severe), muted=frozenset({"c"}))
    assert [one.detector for one in all_in_order(health)] == ["d", "b", "c", "a"]
