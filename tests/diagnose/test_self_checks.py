from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.self_checks import Outcome, self_checks
from tests.diagnose.runs import Completion, Group, group_of, logps

FACTS = RunFacts(num_generations=4, scale_rewards="group")
GOOD = {"check/first_ratio": 1e-6, "check/mask_tokens": 0.0, "check/end_in_mask": 1.0}


def outcomes(values, groups=(), facts=FACTS, later=None):
    diagnosis = Diagnosis(facts)
    diagnosis.feed_step(1, values, groups)
    if later is not None:
        diagnosis.feed_step(2, later)
    return {check.name: check.outcome for check in self_checks(diagnosis.history, facts)}


def test_that_a_right_loop_passes():
    found = outcomes(GOOD, (group_of([1, 0, 0, 0]),))
    for name in ("ratio", "sums", "bound", "mask", "end"):
        assert found[name] is Outcome.PASSED
    assert found["kl"] is found["fuzz"] is found["memory"] is Outcome.UNKNOWN


def test_that_each_check_can_fail():
    bad = {"check/first_ratio": 0.1, "check/mask_tokens": 7.0, "check/end_in_mask": 0.5}
    one = Completion(advantage=3.0, old_logps=logps(-1.0), logps=logps(-1.0), ref_logps=logps(-2.0))
    found = outcomes(bad, (Group(completions=(one, one, one, one)),))
    for name in ("ratio", "kl", "sums", "bound", "mask", "end"):
        assert found[name] is Outcome.FAILED, name


def test_that_only_the_first_step_counts():
    found = outcomes(GOOD, later={"check/first_ratio": 0.5})
    assert found["ratio"] is Outcome.PASSED


def test_that_paid_nonsense_fails_and_a_reward_nobody_met_cannot():
    assert outcomes({"fuzz/real_median": 0.5, "fuzz/real_lowest": 0.0, "fuzz/empty": 1.0})["fuzz"] is Outcome.FAILED
    assert outcomes({"fuzz/real_median": 0.5, "fuzz/real_lowest": 0.0, "fuzz/empty": 0.0})["fuzz"] is Outcome.PASSED
    assert outcomes({"fuzz/real_median": 0.0, "fuzz/real_lowest": 0.0, "fuzz/empty": 0.0})["fuzz"] is Outcome.PASSED


def test_that_the_memory_forecast_is_compared():
    assert outcomes({"system/memory_forecast_gb": 4.0, "system/gpu_memory_gb": 4.4})["memory"] is Outcome.PASSED
    assert outcomes({"system/memory_forecast_gb": 4.0, "system/gpu_memory_gb": 6.0})["memory"] is Outcome.FAILED


def test_that_the_memory_of_the_program_itself_is_no_wrong_forecast():
    assert outcomes({"system/memory_forecast_gb": 0.1, "system/memory_gb": 0.8})["memory"] is Outcome.PASSED
    assert outcomes({"system/memory_forecast_gb": 4.0, "system/memory_gb": 6.5})["memory"] is Outcome.FAILED


def test_that_a_check_that_cannot_be_made_says_why():
    facts = RunFacts(num_generations=4, scale_rewards="none")
    diagnosis = Diagnosis(facts)
    diagnosis.feed_step(1, {"system/memory_gb": 0.6}, (group_of([1, 0, 0, 0]),))
    said = {check.name: check.sentence for check in self_checks(diagnosis.history, facts)}
    assert said["bound"] == "With the settings of this run an advantage has no bound."
    assert said["memory"] == "No forecast is made for this model; measured 0.6 GB."
    assert said["ratio"] == "Not recorded by this run."


def test_that_every_line_has_a_sentence():
    diagnosis = Diagnosis(FACTS)
    diagnosis.feed_step(1, GOOD, (group_of([1, 0, 0, 0]),))
    for check in self_checks(diagnosis.history, FACTS):
        assert check.label
        assert check.sentence.endswith(".")
        assert "nan" not in check.sentence
