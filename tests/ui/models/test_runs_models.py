"""What the Runs view lists and compares, without a window."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.store.records import ChangeRecord, GroupRecord, GroupRef, NoteRecord
from grpo_gui.store.records_runs import SharedPrompt
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.training.validation import config_to_json
from grpo_gui.ui.models.run_styles import STYLES, free_slot, style_of
from grpo_gui.ui.models.runs_difference import flat_config, settings_of
from grpo_gui.ui.models.runs_reading import spark_bounds
from grpo_gui.ui.models.runs_row import RunFilter, RunRow
from grpo_gui.ui.models.runs_table_model import Column, cell_text, sparkline_points
from grpo_gui.ui.models.same_prompt import answers_of, nearest
from grpo_gui.ui.widgets.runs_dialogs import tags_of
from grpo_gui.ui.widgets.runs_exports import file_name
from tests.ui.fakes import completion, run_record


def row(run_id=1, spark=(), notes=(), **changes):
    return RunRow(run_record(run_id, **changes), notes, np.array(spark, dtype=np.float64), 120)


def test_that_every_style_is_another_one_and_neighbours_differ_in_colour():
    assert len(set(STYLES)) == len(STYLES) == 18
    assert all(a.color != b.color for a, b in pairwise(STYLES))
    assert style_of(18) == style_of(0)


@given(st.sets(st.integers(0, 20)))
def test_that_a_free_slot_is_the_lowest_that_is_not_taken(taken):
    slot = free_slot(taken)
    assert slot not in taken
    assert set(range(slot)) <= taken


def test_that_a_search_looks_in_name_task_tags_notes_and_settings_word_by_word():
    note = NoteRecord(1, 3, "diverged at the End", 0.0)
    one = row(name="sort", task="sort", tags=("baseline",), notes=(note,), config='{"loss_type": "dapo"}')
    for words in ("", "SORT", "base", "diverged end", "dapo sort baseline", "seed 0"):
        assert RunFilter(words).finds(one), words
    assert not RunFilter("sort grpo_").finds(one)
    assert not RunFilter(state="running").finds(one)
    assert RunFilter(state="finished", task="sort").finds(one)
    assert not RunFilter(task="compare").finds(one)


def test_that_archived_runs_are_listed_in_the_archive_only():
    away, here = row(archived=True), row()
    assert [RunFilter(shows_archive=True).finds(one) for one in (away, here)] == [True, False]
    assert [RunFilter().finds(one) for one in (away, here)] == [False, True]


def test_that_only_differing_settings_differ_and_come_first():
    first = TrainConfig(seed=1, learning_rate=1e-3)
    second = replace(first, seed=2, rewards=(RewardSpec("exact", "exact", 2.0),))
    runs = [(run_record(1, config=config_to_json(first)), ()), (run_record(2, config=config_to_json(second)), ())]
    rows = settings_of(runs)
    differing = {one.name: one.values for one in rows if one.differs}
    assert differing == {"seed": ("1", "2"), "rewards.exact.weight": ("1", "2")}
    assert [one.differs for one in rows] == sorted((one.differs for one in rows), reverse=True)


def test_that_a_changed_setting_is_shown_as_it_was_at_the_end_too():
    runs = [
        (run_record(1), (ChangeRecord(5, "learning_rate", 3e-4, 2e-4), ChangeRecord(9, "learning_rate", 2e-4, 1e-4))),
        (run_record(2), ()),
    ]
    differing = {one.name: one.values for one in settings_of(runs) if one.differs}
    assert differing == {"learning_rate, end": ("0.0001", "0.0003")}


def test_that_settings_of_another_program_stand_beside_ours():
    foreign = run_record(2, config=json.dumps({"seed": 0, "lora": {"rank": 8, "on": True}}))
    rows = {one.name: one.values for one in settings_of([(run_record(1), ()), (foreign, ())])}
    assert rows["lora.rank"] == ("\u2013", "8")
    assert rows["lora.on"] == ("\u2013", "yes")
    assert rows["seed"] == ("0", "0")
    assert flat_config("no JSON") == flat_config("[1]") == {}


def test_that_sparklines_share_one_scale():
    rows = [row(1, (0.0, np.nan, 0.5)), row(2, (0.25, 1.0)), row(3)]
    assert spark_bounds(rows) == (0.0, 1.0)
    assert spark_bounds([row(1)]) == (0.0, 1.0)
    assert spark_bounds([row(1, (2.0, 2.0))]) == (1.5, 2.5)
    assert sparkline_points(rows[0].spark, (0.0, 1.0), 20, 10) == [[0.0, 10.0], [20.0, 5.0]]


def test_that_cells_show_what_they_say():
    one = row(steps_done=60, tags=("a", "b"), final_metrics=(("reward", 0.5), ("eval/accuracy", 0.25), ("kl", None)))
    texts = {column: cell_text(one, column) for column in Column}
    assert (texts[Column.STEPS], texts[Column.REWARD], texts[Column.HELD_OUT]) == ("60 / 120", "0.50", "0.25")
    assert (texts[Column.KL], texts[Column.TAGS], texts[Column.TIME]) == ("\u2013", "a, b", "20 s")
    assert texts[Column.ORIGIN] == "this window"
    assert texts[Column.RUN] == "compare \u00b7 seed 0"


def test_that_equal_answers_are_counted_the_most_frequent_first():
    texts = (("b", 0.0), ("a", 1.0), ("b", 0.0), ("c", None), ("b", 1.0))
    samples = tuple(completion(place, reward, text=text) for place, (text, reward) in enumerate(texts))
    group = GroupRecord(1, GroupRef(4, 7, 0), "t", "p", None, (), (), samples)
    found = answers_of(group)
    assert (found.run_id, found.step, found.size) == (4, 7, 5)
    assert [(one.text, one.times, one.reward) for one in found.answers] == [
        ("b", 2, 0.0),
        ("a", 1, 1.0),
        ("b", 1, 1.0),
        ("c", 1, None),
    ]


def test_that_the_prompt_of_most_runs_near_a_step_is_offered():
    prompts = [
        SharedPrompt("far", ((1, 90), (2, 90), (3, 90))),
        SharedPrompt("near", ((1, 10), (2, 12), (3, 9))),
        SharedPrompt("few", ((1, 11), (2, 11))),
    ]
    assert nearest(prompts, 11).prompt == "near"
    assert nearest([], 11) is None


def test_that_tags_are_cut_at_commas():
    assert tags_of(" too hot, baseline,, too hot ,") == ("too hot", "baseline")
    assert tags_of(" ") == ()


def test_that_file_names_have_only_letters_that_every_system_takes():
    assert file_name([run_record(name="sort, lr 1e-3: 标签/..", seed=4)]) == "sort-lr-1e-3-标签-..-seed-4"
    assert file_name([run_record(1), run_record(2)]) == "2-runs"
