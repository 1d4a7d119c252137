"""Confirmations of the tests are kept apart from the user's."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_confirmations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    target = tmp_path / "settings" / "confirmed.json"
    monkeypatch.setattr("grpo_gui.tasks.reward_file.confirmed_files_file", lambda: target)
    return target
