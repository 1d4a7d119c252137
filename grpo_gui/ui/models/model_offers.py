"""Which snapshots can be added to the router: those of all runs in the database, the newest run first."""

from dataclasses import dataclass
from pathlib import Path

from grpo_gui.snapshots.choosing import best_of, locate
from grpo_gui.store.reader import StoreReader
from grpo_gui.ui.run_text import run_title


@dataclass(frozen=True, slots=True)
class Offer:
    """A snapshot with a name for the model that it would be."""

    name: str
    title: str
    folder: Path


def read_offers(reader: StoreReader, database: Path) -> list[Offer]:
    """The snapshots that lie on the disk; of each run the best one first."""
    offers = []
    for run in reader.runs():
        records = [record for record in reader.snapshots(run.id) if not record.superseded]
        best = best_of(records)
        for record in sorted(records, key=lambda record: (record is not best, -record.step)):
            folder = locate(record, database)
            if folder.is_dir():
                suffix = ", best" if record is best else ""
                title = f"{run_title(run)} · step {record.step}{suffix}"
                offers.append(Offer(f"{run.name}-{record.step}", title, folder))
    return offers
