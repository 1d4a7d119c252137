from pathlib import Path

import pytest

import grpo_gui.diagnose.detectors as package
from grpo_gui.diagnose.detectors import DETECTORS, NAMES
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Detector

FOLDER = Path(package.__file__).parent


def test_that_every_file_is_a_detector_with_a_line_and_a_test():
    files = {file.stem for file in FOLDER.glob("*.py")} - {"__init__"}
    assert files == set(NAMES)
    tests = {file.stem.removeprefix("test_") for file in (Path(__file__).parent / "detectors").glob("test_*.py")}
    assert tests == set(NAMES)


@pytest.mark.parametrize("detector", DETECTORS, ids=NAMES)
def test_that_a_detector_is_whole(detector):
    assert isinstance(detector, Detector)
    assert detector.name in NAMES
    assert detector.title
    assert detector.measure
    assert detector.needs
    assert detector.check.__doc__
    assert "Source" in detector.check.__doc__ or "ours" in detector.check.__doc__ or "facts" in detector.check.__doc__


@pytest.mark.parametrize("detector", DETECTORS, ids=NAMES)
def test_that_one_value_of_each_series_is_no_trouble(detector):
    """Whatever is recorded, a single step is read without an error."""
    history = History()
    history.append(1, {"rows": 1.0} | dict.fromkeys((*detector.needs, "reward", "reward_std", "step_time"), 0.5))
    history.rows = 1
    detector.check(history, RunFacts())
