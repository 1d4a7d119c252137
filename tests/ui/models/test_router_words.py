from grpo_gui.router.context import context_from_text
from grpo_gui.router.drift import DriftAlarm, DriftLevel
from grpo_gui.router.explanation import WeightMap
from grpo_gui.ui.models import router_words

WEIGHTS = WeightMap(
    ("math", "short"),
    ("base", "expert"),
    ((-0.5, 1.25), (0.0, 0.0)),
    ((0.4, 0.8), (0.5, 0.55)),
    ((0.1, 0.05), (0.3, 0.3)),
    ((12, 1), (3, 0)),
)


def test_that_the_features_are_said_in_words():
    text = router_words.features(context_from_text("Calculate 2 + 2"))
    assert text == "15 characters, 4 words, no code, mathematics"
    assert router_words.features(context_from_text("x")) == "1 character, 1 word, no code, no mathematics"


def test_that_a_cell_says_place_weight_quality_and_count():
    assert router_words.cell(WEIGHTS, 0, 1) == (
        "expert is the first choice for math: weight +1.25. Its 1 rating say quality 0.80 ± 0.05 (95 %)."
    ).replace("rating say", "rating says")
    assert "base is choice 2 of 2 for math: weight −0.50. Its 12 ratings say" in router_words.cell(WEIGHTS, 0, 0)


def test_that_a_cell_without_ratings_says_what_is_assumed():
    text = router_words.cell(WEIGHTS, 1, 1)
    assert text.startswith("expert was never rated in short. Until it is, quality 0.55 is assumed")


def test_that_drift_names_the_model_and_what_follows():
    level = DriftLevel(2.1, 8.0, "base", "math")
    assert router_words.drift(None, ()) == ("good", "No drift", "no rating yet")
    assert router_words.drift(level, ()) == ("good", "No drift", "alarm 2.1 of 8.0")
    kind, word, details = router_words.drift(level, ((1204, DriftAlarm("base", "math", False)),))
    assert (kind, word) == ("warn", "Drift")
    assert details.startswith("base became worse in math at decision 1")
    assert router_words.drift(level, ((3, DriftAlarm("base", None, True)),))[2].startswith(
        "base became better over all classes"
    )
