"""Snapshots: complete, hashed model folders of a run that other tools load. `loading`, `exporting` need torch."""
