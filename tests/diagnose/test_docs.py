from pathlib import Path

from grpo_gui.diagnose.detectors import DETECTORS

PAGE = (Path(__file__).parents[2] / "docs" / "diagnosis.md").read_text(encoding="utf-8")


def test_that_the_page_names_every_detector_and_no_other():
    section = PAGE.split("## The detectors")[1].split("##")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| ")][1:]
    named = {name.strip(): title.strip().lower() for name, title in rows}
    assert named == {detector.name: detector.title.lower() for detector in DETECTORS}
