from grpo_gui.store.records_snapshots import SnapshotRecord
from grpo_gui.ui.models.model_offers import read_offers
from tests.ui.fakes import run_record


class Reader:
    def __init__(self, runs, snapshots):
        self._runs, self._snapshots = runs, snapshots

    def runs(self):
        return self._runs

    def snapshots(self, run_id):
        return tuple(record for record in self._snapshots if record.run_id == run_id)


def snapshot(number, run_id, step, path, held_out=0.5, *, superseded=False):
    metrics = {"eval/reward": held_out}
    return SnapshotRecord(number, run_id, step, str(path), "every", 0.0, True, 10, "", metrics, superseded)


def test_that_the_best_snapshot_of_each_run_is_offered_first_and_missing_ones_are_not(tmp_path):
    folders = [tmp_path / name for name in ("a", "b", "c", "gone", "old")]
    for folder in (*folders[:3], folders[4]):
        folder.mkdir()
    reader = Reader(
        [run_record(2, name="sort"), run_record(1, name="add")],
        [
            snapshot(1, 1, 50, folders[0]),
            snapshot(2, 2, 100, folders[1], 0.6),
            snapshot(3, 2, 50, folders[2], 0.9),
            snapshot(4, 2, 150, folders[3], 0.4),
            snapshot(5, 2, 75, folders[4], 0.4, superseded=True),
        ],
    )
    offers = read_offers(reader, tmp_path / "runs.db")
    assert [offer.name for offer in offers] == ["sort-50", "sort-100", "add-50"]
    assert offers[0].title == "sort · seed 0 · step 50, best"
    assert offers[0].folder == folders[2]
