"""The findings as a part of a report."""

from grpo_gui.diagnose.finding import FindingState
from grpo_gui.diagnose.report_html import findings_html
from tests.ui.broken_run import finding


def test_that_a_finding_is_told_with_all_that_belongs_to_it():
    symptom = finding("small_batch", title="Few answers count", root="dead_groups", state=FindingState.SYMPTOM)
    text = findings_html((finding(), symptom))
    assert text.count("<article") == 1
    for words in (
        "Dead groups <small>(warning, since step 5)",
        "62 % of the groups in the last 20 steps taught nothing.",
        "Likely cause: The prompts are too hard.",
        "What to do: Sample 16 answers for each prompt.",
        "step 3 group 2; step 3 group 1 answer 3",
        "It also explains: few answers count.",
        "step 9: opened, warning",
    ):
        assert words in text


def test_that_muted_and_closed_findings_are_said_to_be_so():
    closed = finding("copies", title="Copies", state=FindingState.CLOSED)
    text = findings_html((finding(), closed), muted={"dead_groups"})
    assert "Muted by the user: dead groups (since step 5)." in text
    assert "since step 5, closed since" in text
    assert text.count("<article") == 1


def test_that_a_run_without_findings_says_so_and_markup_in_texts_is_harmless():
    assert "Nothing was found." in findings_html(())
    text = findings_html((finding(title="<script>", headline="<img src=x>"),))
    assert "<script>" not in text
    assert "<img" not in text
