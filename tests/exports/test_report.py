"""The report: one file that shows a run and runs nothing, whatever stands in the completions."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.errors import BadInputError
from grpo_gui.events import RunStatus, TrainerStatus
from grpo_gui.exports.report import report_html
from grpo_gui.exports.svg import Line, plot_svg, round_ticks, sheet_svg
from grpo_gui.exports.writing import check_target, export_runs, report
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import completion, group, new_run, step

ATTACK = '<script>alert("x")</script><img src=x onerror=alert(1)>\0\ud800\u202e</pre>'


class Page(HTMLParser):
    """Tags and visible text of a page, in which every tag is closed where it must be."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = [], [], "", []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "a.db"
    writer = StoreWriter.open(path)
    run_id = writer.create_run(new_run(name=f"run {ATTACK}", config='{"learning_rate": 0.5, "note": "<b>"}'))
    for number in range(1, 6):
        rewards = (1.0, 1.0) if number == 2 else (0.0, 0.1 * number)
        some = tuple(completion(place, f"{ATTACK} {number}", reward=reward) for place, reward in enumerate(rewards))
        writer.emit(step(run_id, number, groups=(group(0, completions=some, prompt=f"Prompt {number} {ATTACK}"),)))
    writer.emit(TrainerStatus(run_id, RunStatus.FINISHED, 5, "All steps are done."))
    assert writer.flush()
    writer.add_note(run_id, 3, f"a note {ATTACK}")
    writer.set_tags(run_id, (f"tag {ATTACK}",))
    writer.close()
    return path


def test_that_a_report_shows_curves_settings_groups_and_findings(database):
    with StoreReader(database) as reader:
        page = Page(report(reader, 1))
    assert page.tags.count("svg") == 2  # reward and KL
    for text in ("Best groups", "Worst groups", "Settings", "learning_rate", "0.5", "All steps are done.", "a note"):
        assert text in page.text
    assert page.text.index("Prompt 2") < page.text.index("Worst groups")  # reward 1 is the best
    assert page.text.index("Prompt 1") > page.text.index("Worst groups")
    assert "Nothing was found" in page.text or "What to do" in page.text


def test_that_nothing_in_a_report_runs_or_comes_from_elsewhere(database):
    with StoreReader(database) as reader:
        text = report_html(reader, 1, ())
    page = Page(text)
    assert not {"script", "img", "iframe", "link", "object", "embed", "form"} & set(page.tags)
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name in ("src", "href")]
    assert "default-src 'none'" in text
    assert "url(" not in text
    assert "@import" not in text
    assert '<script>alert("x")</script>' in page.text  # shown as it is
    assert not re.search(r"[\0\u202e\ud800]", text)
    text.encode("utf-8")


def test_that_a_run_without_samples_or_curves_has_a_report_too(tmp_path):
    path = tmp_path / "a.db"
    writer = StoreWriter.open(path)
    writer.create_run(new_run(config="not JSON <b>"))
    writer.close()
    with StoreReader(path) as reader:
        page = Page(report_html(reader, 1, ()))
        assert "No samples are stored." in page.text
        assert "not JSON <b>" in page.text
        with pytest.raises(BadInputError, match="There is no run 2"):
            report_html(reader, 2, ())


@given(
    st.text(max_size=40),
    st.lists(st.floats(), max_size=30),
    st.lists(st.floats(), max_size=3),
)
def test_that_every_plot_is_well_formed_whatever_its_values(title, first, second):
    lines = [Line(title, np.arange(len(values)), np.array(values)) for values in (first, second)]
    root = ElementTree.fromstring(plot_svg(title, lines))
    assert root.attrib["width"] == "420"
    ElementTree.fromstring(sheet_svg(title, [(title, lines)] * 3))


def test_that_a_peak_of_a_long_curve_is_drawn_and_a_gap_stays_one():
    values = np.zeros(100_000)
    values[54_321] = 7.0
    values[70_000:80_000] = np.nan
    text = plot_svg("Reward", [Line("", np.arange(100_000), values)])
    root = ElementTree.fromstring(text)
    (path,) = [one for one in root.iter() if one.tag.endswith("path")]
    heights = [float(one.split(" ")[1]) for one in re.findall(r"[ML]([\d.]+ [\d.]+)", path.attrib["d"])]
    assert min(heights) == 30.0  # the upper edge of the frame
    assert path.attrib["d"].count("M") == 2
    assert len(heights) < 2500


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(0.0, 1.0, [0.0, 0.5, 1.0]), (-0.3, 0.9, [0.0, 0.5]), (3.0, 7.0, [3, 4, 5, 6, 7])]
)
def test_that_ticks_are_round_and_inside(low, high, expected):
    assert round_ticks(low, high) == pytest.approx(expected)


def test_that_the_ending_of_a_file_says_what_is_written(database, tmp_path):
    beginnings = {".csv": b"run,name", ".html": b"<!doctype html>", ".svg": b"<svg", ".db": b"SQLite format 3"}
    for ending, beginning in beginnings.items():
        target = tmp_path / f"a{ending}"
        if target.exists():
            target = tmp_path / f"b{ending}"
        assert export_runs(database, (1,), target)
        assert target.read_bytes().startswith(beginning)
    assert not list(tmp_path.glob("*.part-*"))
    assert not list(tmp_path.glob(".*"))


def test_that_a_target_that_cannot_be_used_is_refused_before_anything_is_written(database, tmp_path):
    with pytest.raises(BadInputError, match=r"must end in \.csv"):
        check_target(tmp_path / "a.txt", 1)
    with pytest.raises(BadInputError, match="holds one run"):
        check_target(tmp_path / "a.html", 2)
    (tmp_path / "a.csv").write_text("mine")
    with pytest.raises(BadInputError, match="is not overwritten"):
        export_runs(database, (1,), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "mine"
    assert export_runs(database, (1,), tmp_path / "a.csv", replaces=True)
    with pytest.raises(BadInputError, match="There is no run 9"):
        export_runs(database, (9,), tmp_path / "b.csv")
    with pytest.raises(BadInputError, match="cannot be written"):
        export_runs(database, (1,), tmp_path / "none" / "b.csv")


def test_that_a_cancelled_export_leaves_what_was_there(database, tmp_path):
    target = tmp_path / "a.csv"
    target.write_text("mine")
    assert not export_runs(database, (1,), target, cancelled=lambda: True, replaces=True)
    assert target.read_text() == "mine"
    assert [file.name for file in tmp_path.iterdir() if "part" in file.name] == []
