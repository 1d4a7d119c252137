"""Ratings out of a database to files, what other tools make of them, and back in."""

import json

import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.events import GroupRef, GroupSample
from grpo_gui.rating.files import EVENTS, LABELS, PAIRS
from grpo_gui.rating_events import RatingEvent
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.writer import StoreWriter
from grpo_gui.training.rating_files import export_ratings, import_ratings
from tests.language.hf_models import make_hf_model
from tests.ui.fakes import completion, step_completed
from tests.ui.stored_run import stored_run

TEXTS = ("9.9", "9.11", "9.9", "天空 \u202e <b>")
RANKS = (1.0, 2.0, 1.0, 3.0)


def fill(path, ratings=()):
    """A database with one run of eight groups, and ratings of it."""
    writer = StoreWriter.open(path)
    run_id = stored_run(writer)
    for step in range(1, 9):
        samples = tuple(completion(place, float(place), 0.1, text) for place, text in enumerate(TEXTS))
        group = GroupSample(0, "compare", f"Which is bigger? {step}", None, (0,), samples)
        writer.emit(step_completed(run_id, step, (group,)))
    assert writer.flush(10)
    for rating in ratings:
        writer.rate_group(rating)
    writer.close()
    return run_id


def rating(step, mode="ranks", values=RANKS, **fields):
    positions = fields.pop("positions", (2, 0, 2, 1))
    defaults = {"shown_s": 10.0 * step, "first_key_s": 10.0 * step + 1, "submitted_s": 10.0 * step + 3}
    return RatingEvent(GroupRef(1, step, 0), "mara", mode, values, positions, **(defaults | fields))


RATINGS = (
    *(rating(step) for step in range(1, 6)),
    rating(6, "scores", (5.0, 1.0, 5.0, None), note="hm", tags=((1, "false"),)),
    rating(7, "all_bad", (1.0,) * 4),
    rating(7, "undone", (), positions=(), undoes=7, submitted_s=99.0),
    rating(8, "skip", (None,) * 4),
)


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "from.db"
    fill(path, RATINGS)
    return path


def exported(database, kind, target):
    with StoreReader(database) as reader:
        export_ratings(reader, 1, kind, target)
    return [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]


def imported(database, source, rater="noa"):
    writer = StoreWriter.open(database)
    try:
        with StoreReader(database) as reader:
            return import_ratings(reader, writer, 1, source, rater)
    finally:
        writer.close()


def stored(database):
    with StoreReader(database) as reader:
        return [(one.event, one.is_undone) for one in reader.group_ratings(1)]


def test_that_the_whole_log_goes_to_another_database_and_only_once(database, tmp_path):
    lines = exported(database, EVENTS, tmp_path / "log.jsonl")
    assert len(lines) == len(RATINGS)
    fill(tmp_path / "to.db")
    first = imported(tmp_path / "to.db", tmp_path / "log.jsonl")
    assert (first.taken, first.known, first.without_group) == (len(RATINGS), 0, 0)
    assert stored(tmp_path / "to.db") == stored(database)
    again = imported(tmp_path / "to.db", tmp_path / "log.jsonl")
    assert (again.taken, again.known) == (0, len(RATINGS))
    assert again.sentence == "0 entries were taken over; 9 were there already."


def test_that_a_group_that_is_not_there_is_counted_and_left_out(database, tmp_path):
    target = tmp_path / "log.jsonl"
    lines = exported(database, EVENTS, target)
    lines[0]["prompt"] = "another"
    target.write_text("\n".join(map(json.dumps, lines)))
    fill(tmp_path / "to.db")
    result = imported(tmp_path / "to.db", target)
    assert (result.taken, result.without_group) == (len(RATINGS) - 1, 1)


def test_that_pairs_have_the_columns_of_dpo_and_come_back_as_judged_pairs(database, tmp_path):
    lines = exported(database, PAIRS, tmp_path / "pairs.jsonl")
    assert {tuple(line) for line in lines} == {("prompt", "chosen", "rejected")}
    assert len(lines) == 5 * 3 + 1
    assert {"prompt": "Which is bigger? 1", "chosen": "9.9", "rejected": "9.11"} in lines
    fill(tmp_path / "to.db")
    assert imported(tmp_path / "to.db", tmp_path / "pairs.jsonl").taken == 6
    events = [event for event, _ in stored(tmp_path / "to.db")]
    assert {event.mode for event in events} == {"pairs"}
    assert exported(tmp_path / "to.db", PAIRS, tmp_path / "again.jsonl") == lines
    assert imported(tmp_path / "to.db", tmp_path / "pairs.jsonl").known == 6


def test_that_labels_have_the_columns_of_kto_and_come_back_as_labels(database, tmp_path):
    lines = exported(database, LABELS, tmp_path / "labels.jsonl")
    assert {tuple(line) for line in lines} == {("prompt", "completion", "label")}
    assert {"prompt": "Which is bigger? 6", "completion": "9.11", "label": False} in lines
    fill(tmp_path / "to.db")
    assert imported(tmp_path / "to.db", tmp_path / "labels.jsonl").taken == 6
    assert exported(tmp_path / "to.db", LABELS, tmp_path / "again.jsonl") == lines


def test_that_an_export_without_ratings_says_so(tmp_path):
    fill(tmp_path / "empty.db")
    with pytest.raises(BadInputError, match="no ratings to export"):
        exported(tmp_path / "empty.db", PAIRS, tmp_path / "x.jsonl")
    assert not (tmp_path / "x.jsonl").exists()


def test_that_a_file_that_cannot_be_written_or_read_is_named(database, tmp_path):
    with pytest.raises(BadInputError, match="cannot be written"):
        exported(database, EVENTS, tmp_path / "nowhere" / "x.jsonl")
    with pytest.raises(BadInputError, match="cannot be read"):
        imported(database, tmp_path / "missing.jsonl")


# --- what the trainers of TRL make of the files


@pytest.fixture
def model(tmp_path):
    pytest.importorskip("trl", reason="needs the extra trl")
    return make_hf_model(tmp_path / "model", "llama", template=None)


def one_step(trainer_class, config_class, model, source, tmp_path):
    from datasets import load_dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer

    data = load_dataset("json", data_files=str(source), split="train", cache_dir=str(tmp_path / "cache"))
    settings = config_class(
        output_dir=str(tmp_path / "out"),
        max_steps=1,
        per_device_train_batch_size=4,
        max_length=64,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        disable_tqdm=True,
    )
    trainer = trainer_class(
        model=AutoModelForCausalLM.from_pretrained(model),
        args=settings,
        train_dataset=data,
        processing_class=AutoTokenizer.from_pretrained(model),
    )
    return data, trainer.train()


@pytest.mark.trl
@pytest.mark.filterwarnings("ignore")
def test_that_trl_trains_a_step_of_dpo_on_the_pairs(database, model, tmp_path):
    from trl import DPOConfig, DPOTrainer

    exported(database, PAIRS, tmp_path / "pairs.jsonl")
    data, result = one_step(DPOTrainer, DPOConfig, model, tmp_path / "pairs.jsonl", tmp_path)
    assert data.column_names == ["prompt", "chosen", "rejected"]
    assert result.global_step == 1
    assert 0 < result.training_loss < 10


@pytest.mark.trl
@pytest.mark.filterwarnings("ignore")
def test_that_trl_trains_a_step_of_kto_on_the_labels(database, model, tmp_path):
    try:
        from trl import KTOConfig, KTOTrainer
    except ImportError:
        from trl.experimental.kto import KTOConfig, KTOTrainer

    exported(database, LABELS, tmp_path / "labels.jsonl")
    data, result = one_step(KTOTrainer, KTOConfig, model, tmp_path / "labels.jsonl", tmp_path)
    assert data.column_names == ["prompt", "completion", "label"]
    assert result.global_step == 1
    assert 0 < result.training_loss < 10
