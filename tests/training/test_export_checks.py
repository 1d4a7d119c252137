"""Every snapshot is compared with the one before and with the model in training, and the diagnosis is told."""

import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from grpo_gui.commands import Pause, Resume, SaveSnapshot
from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.events import RunStatus, SnapshotSaved, StepCompleted, TrainerStatus
from grpo_gui.language.policy import LanguagePolicy
from grpo_gui.snapshots.shelf import shelf_folder
from grpo_gui.training import export_checks
from grpo_gui.training.diagnosing import feed_event
from tests.training.test_trainer import make_rig, post_when_paused

SAVE = LanguagePolicy.save


def measures_of(rig):
    return [dict(event.measures) for event in rig.sink.of(SnapshotSaved)]


def findings_of(rig):
    diagnosis = Diagnosis(RunFacts())
    for event in rig.sink.events:
        feed_event(diagnosis, event)
    return [(one.detector, one.onset, one.headline) for one in diagnosis.findings if one.detector == "stale_export"]


def edited(policy, folder, change):
    """Save as always, then change the file of the weights."""
    SAVE(policy, folder)
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def test_that_a_healthy_run_exports_what_it_trained(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, steps=6, save_steps=2)
    rig.run()
    first, *later = measures_of(rig)
    assert first.keys() == {"snapshot/size_gb", "snapshot/reload_error"}
    assert all(0 < one["snapshot/weights_change"] < 0.1 for one in later)
    assert [one["snapshot/reload_error"] for one in (first, *later)] == [0.0] * 3
    assert first["snapshot/size_gb"] == rig.sink.of(SnapshotSaved)[0].size_bytes / 1e9
    assert findings_of(rig) == []


def test_that_an_export_of_old_weights_is_found_at_its_step(tiny_model, tmp_path, monkeypatch):
    old = tmp_path / "old"

    def stale(policy, folder):
        if not old.exists():
            SAVE(policy, old)
        shutil.copytree(old, folder, dirs_exist_ok=True)

    monkeypatch.setattr(LanguagePolicy, "save", stale)
    rig = make_rig(tiny_model, tmp_path / "run", steps=6, save_steps=2)
    rig.run()
    assert [one.get("snapshot/weights_change") for one in measures_of(rig)] == [None, 0.0, 0.0]
    ((detector, onset, headline),) = findings_of(rig)
    assert (detector, onset) == ("stale_export", 4)
    assert "same as the last one" in headline


def test_that_an_export_with_other_weights_is_found_at_the_first_snapshot(tiny_model, tmp_path, monkeypatch):
    def wrong(policy, folder):
        edited(policy, folder, lambda weights: weights["model.norm.weight"].mul_(1.01))

    monkeypatch.setattr(LanguagePolicy, "save", wrong)
    rig = make_rig(tiny_model, tmp_path)
    rig.run()
    ((_, onset, headline),) = findings_of(rig)
    assert onset == 4
    assert "gives other answers" in headline


def test_that_two_snapshots_without_training_in_between_are_no_stale_export(tiny_model, tmp_path):
    rig = post_when_paused(make_rig(tiny_model, tmp_path).post_at_step(2, Pause()), [SaveSnapshot()])
    pausing = rig.sink.on_event

    def go_on(event):
        pausing(event)
        if isinstance(event, SnapshotSaved) and event.step == 2:
            rig.commands.put(SaveSnapshot() if len(rig.sink.of(SnapshotSaved)) == 1 else Resume())

    rig.sink.on_event = go_on
    rig.run()
    assert [event.step for event in rig.sink.of(SnapshotSaved)] == [2, 2, 4]
    assert ["snapshot/weights_change" in one for one in measures_of(rig)] == [False, False, True]
    assert findings_of(rig) == []


def test_that_a_snapshot_that_cannot_be_loaded_is_told_and_not_kept(tiny_model, tmp_path, monkeypatch):
    def truncated(policy, folder):
        SAVE(policy, folder)
        weights = folder / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-100])

    monkeypatch.setattr(LanguagePolicy, "save", truncated)
    rig = make_rig(tiny_model, tmp_path, save_steps=2)
    assert rig.run() is RunStatus.FINISHED
    assert len(rig.sink.of(StepCompleted)) == 4
    assert rig.sink.of(SnapshotSaved) == []
    said = [event.message for event in rig.sink.of(TrainerStatus) if "could not be loaded again" in event.message]
    assert len(said) == 2
    assert "step-000002" in said[0]
    assert list(shelf_folder(rig.state_dir).iterdir()) == []


def test_that_a_model_which_is_not_there_anew_keeps_its_snapshot(tiny_model, tmp_path, monkeypatch):
    def too_large(folder, device):
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(export_checks, "load_snapshot", too_large)
    rig = make_rig(tiny_model, tmp_path)
    rig.run()
    (measures,) = measures_of(rig)
    assert "snapshot/reload_error" not in measures


def test_that_other_errors_of_the_reload_are_not_hidden(tiny_model, tmp_path, monkeypatch):
    def broken(folder, device):
        raise RuntimeError("a bug")

    monkeypatch.setattr(export_checks, "load_snapshot", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        make_rig(tiny_model, tmp_path).run()


def test_that_a_large_model_is_not_loaded_again(tiny_model, tmp_path, monkeypatch):
    monkeypatch.setattr(export_checks, "LARGEST", 1000)
    rig = make_rig(tiny_model, tmp_path, steps=4, save_steps=2)
    rig.run()
    assert all("snapshot/reload_error" not in one for one in measures_of(rig))
    assert measures_of(rig)[1]["snapshot/weights_change"] > 0
