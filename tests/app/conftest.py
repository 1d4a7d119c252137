"""Tests of the whole window run in a process of their own, with folders of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.garbage import on_the_main_thread

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

ROOT = Path(__file__).parents[2]


_garbage = pytest.fixture(autouse=True)(on_the_main_thread)


@pytest.fixture
def run_python(tmp_path):
    """Run Python code in a fresh process without display; return its standard output."""

    def run(code: str, timeout_s: float = 240) -> str:
        environment = dict(os.environ, QT_QPA_PLATFORM="offscreen", PYTHONPATH=str(ROOT))
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "HOME", "APPDATA", "LOCALAPPDATA"):
            environment[name] = str(tmp_path / "home")
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
