"""Makes the fixture of the current schema: `python -m tests.store.make_fixture`, once per released schema."""

import gzip
import tempfile
from pathlib import Path

from grpo_gui.commands import Pause
from grpo_gui.events import (
    EvalCompleted,
    GroupRef,
    HyperparameterChanged,
    RatingModeSet,
    RatingsSettled,
    RatingUse,
    RunStarted,
    RunStatus,
    SnapshotSaved,
    StateSaved,
    TrainerStatus,
)
from grpo_gui.rating_events import RatingEvent
from grpo_gui.router_events import (
    ModelRating,
    RouterAnswered,
    RouterDecided,
    RouterPromoted,
    RouterRated,
    RouterRolledBack,
    RouterStarted,
    RouterWeightsMoved,
)
from grpo_gui.store.records_diagnosis import FindingRecord
from grpo_gui.store.records_outside import OutsideBatch, OutsideRun, SourceRecord
from grpo_gui.store.records_snapshots import PairRating, PairRef
from grpo_gui.store.schema import SCHEMA_VERSION
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import completion, group, new_run, step

FIXTURES = Path(__file__).parent / "fixtures"


def fill(path):
    writer = StoreWriter.open(path)
    run_id = writer.create_run(new_run(name="old run", seed=11))
    writer.emit(RunStarted(run_id, 0, "cpu", 816_768, (("torch", "2.13.0"),)))
    writer.emit(TrainerStatus(run_id, RunStatus.RUNNING, 0))
    for number in (1, 2, 3):
        writer.emit(step(run_id, number))
    odd = (completion(0, "NUL \0", reward=None, kl_max=None, rewards=(("exact", None),)), completion(1, "🙂 \ud800"))
    writer.emit(step(run_id, 4, groups=(group(0, completions=odd, answer=None),), metrics=(("reward", float("nan")),)))
    writer.emit(EvalCompleted(run_id, 4, 1e9, (("eval/accuracy", 0.75),)))
    writer.emit(HyperparameterChanged(run_id, 4, "beta", 0.02, 0.04))
    writer.emit(StateSaved(run_id, 4, "/old/state"))
    writer.emit(TrainerStatus(run_id, RunStatus.FINISHED, 4, "All steps are done."))
    writer.add_note(run_id, 2, "a note")
    writer.post_command(run_id, Pause())
    writer.emit(SnapshotSaved(run_id, 4, 1e9, "/old/step-000004", "end", True, 1234, "abc", (("reward", 0.5),)))
    assert writer.flush()
    writer.rate_pair(PairRating(PairRef(run_id, 1, None), "Which?", 3, "9.9", "9.11", True, "first"))
    finding = FindingRecord(
        "dead_groups", "Dead groups", "warning", "open", "", 2, 4, "A headline.", "A detail.", "An action.", "{}"
    )
    writer.save_findings(run_id, (finding,))
    writer.mute_finding(run_id, "truncation")
    writer.set_tags(run_id, ("baseline", "too hot \ud800"))
    rated = GroupRef(run_id, 3, 1)
    times = {"shown_s": 1e9, "first_key_s": None, "submitted_s": 1e9 + 2}
    ranking = RatingEvent(
        rated, "mara", "ranks", (1, 2, None, 2), (3, 2, 1, 0), **times, tags=((1, "wrong"),), note="?"
    )
    rating_id = writer.rate_group(ranking)
    writer.emit(RatingModeSet(run_id, 4, "wait"))
    writer.emit(RatingsSettled(run_id, 4, (RatingUse(rated, (rating_id,), "used", (1.3, -0.4, None, -0.4)),)))
    assert writer.flush()
    pairs = RatingEvent(rated, "mara", "pairs", (None,) * 4, (0, 1, 2, 3), **times, pairs=((0, 2, 0.5),))
    writer.rate_group(RatingEvent(rated, "mara", "undone", (), (), **times, undoes=writer.rate_group(pairs)))
    writer.append_router(
        (
            RouterStarted('{"group_size": 2}', 5),
            RouterDecided(
                *(1, "Which? \ud800", "short", "it has fewer than 50 characters", "table", "thompson"),
                *(("a", "b"), (0.25, 0.75), (0.5, 0.5), ("b", "a"), (0.5, 1.0)),
            ),
            RouterAnswered(1, "b", "NUL \0", None, 0.5, 1.5, "It did not answer."),
            RouterRated(1, (ModelRating("b", 0.25, 0.5, 1.5), ModelRating("a", 1.0, 0.0, 0.1))),
            RouterWeightsMoved(1, "short", ("a", "b"), (0.1, -0.1)),
            RouterPromoted(1, b"\0\1", 0.5, 0.25, 0.75),
            RouterRolledBack(),
        )
    )
    writer.save_outside_run(OutsideRun(run_id, "/old/place", "trl", "abc", "All of it."))
    writer.write_outside(run_id, OutsideBatch(sources=(SourceRecord("a.jsonl", "1:2:x", 3, "{}", "a problem"),)))
    writer.close()


def main():
    target = FIXTURES / f"v{SCHEMA_VERSION}.db.gz"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        fill(path)
        with target.open("xb") as file:  # an old fixture is never made anew
            file.write(gzip.compress(path.read_bytes(), mtime=0))


if __name__ == "__main__":
    main()
