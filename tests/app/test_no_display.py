"""Starting the program where no window can be opened."""

import os
import struct
import subprocess
import sys

import pytest

from grpo_gui.app.no_display import has_display


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux can a display be missing")
@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, False),
        ({"DISPLAY": ":0"}, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, True),
        ({"QT_QPA_PLATFORM": "offscreen"}, True),
    ],
)
def test_that_a_display_is_known_by_its_variables(variables, expected, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert has_display() is expected


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux can a display be missing")
def test_that_without_a_display_the_default_run_is_trained_and_its_dashboard_drawn(tmp_path):
    hidden = {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    result = subprocess.run(
        [sys.executable, "main.py", "--db", str(tmp_path / "runs.db")],
        check=False,
        capture_output=True,
        text=True,
        timeout=280,
        env=environment,
    )
    assert result.returncode == 0, result.stderr
    assert "no display" in result.stdout
    assert "step 120/120" in result.stdout
    picture = tmp_path / "runs-runs" / "00001" / "dashboard.png"
    assert str(picture) in result.stdout
    header = picture.read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", header[16:24]) == (1440, 900)
