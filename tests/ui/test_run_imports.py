import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtWidgets import QCheckBox, QFileDialog, QWidget

from grpo_gui.outside.importing import ImportReport, Progress
from grpo_gui.outside.pieces import OutsideError
from grpo_gui.ui import run_imports
from grpo_gui.ui.run_imports import RunImports, dropped_paths
from grpo_gui.ui.widgets.job_strip import JobStrip
from tests.ui.fakes import run_record


def click(qtbot, widget):
    if isinstance(widget, QCheckBox):
        qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=QPoint(8, widget.height() // 2))
    else:
        qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


def report(run_id=2, **fields):
    values = {"place": "/a/run", "run_id": run_id, "is_new": True, "has_changed": True, "steps": 3, "completions": 12}
    return ImportReport(**{**values, "summary": "It holds steps up to 3.", "problems": (), **fields})


@pytest.fixture
def imports(workspace, fake_reader, qtbot):
    fake_reader.records[2] = run_record(2)
    window = QWidget()
    qtbot.addWidget(window)
    strip = JobStrip()
    qtbot.addWidget(strip)
    made = RunImports(workspace, strip, window)
    made.strip = strip
    return made


@pytest.fixture
def answers(monkeypatch):
    """What importing gives; change it in the test."""
    found = {"reports": [report()], "error": None}

    def import_path(path, writer, *, progress, is_cancelled):
        if found["error"] is not None:
            raise found["error"]
        progress(Progress(str(path), 1, 4, 0.5))
        yield from found["reports"]

    monkeypatch.setattr(run_imports, "import_path", import_path)
    return found


def test_that_an_imported_run_is_shown(imports, workspace, answers, qtbot, tmp_path):
    with qtbot.waitSignal(workspace.view_requested) as view:
        imports.start([tmp_path / "run"])
        assert imports.strip.words.text() == "Importing run\u2026"
    assert view.args == ["train"]
    assert imports.strip.words.text() == "Run 2 was imported from run: 3 logged steps, 12 completions."


def test_that_what_was_left_out_is_told(imports, workspace, answers, qtbot, tmp_path):
    answers["reports"] = [report(problems=("a.jsonl, line 2: no JSON.", "b.parquet: damaged."))]
    with qtbot.waitSignal(workspace.notice) as notice:
        imports.start([tmp_path / "run"])
    assert notice.args == [
        "Left out: a.jsonl, line 2: no JSON. 1 more parts were left out.",
        "a.jsonl, line 2: no JSON.\nb.parquet: damaged.",
    ]


def test_that_several_places_come_one_after_the_other(imports, workspace, answers, qtbot, tmp_path):
    seen = []
    workspace.view_requested.connect(lambda _: seen.append(imports.strip.words.text()))
    answers["reports"] = [report(has_changed=False, is_new=False)]
    imports.start([tmp_path / "one", tmp_path / "two"])
    qtbot.waitUntil(lambda: len(seen) == 2)
    assert imports.strip.words.text() == "Run 2 holds two already; nothing has changed."


def test_that_a_place_without_a_run_is_a_sentence(imports, workspace, answers, qtbot, tmp_path):
    answers["error"] = OutsideError("/a holds no run; give a TRL output folder.")
    with qtbot.waitSignal(workspace.problem) as problem:
        imports.start([tmp_path])
    assert problem.args == ["/a holds no run; give a TRL output folder.", ""]
    assert imports.strip.isHidden()


def test_that_a_cancelled_import_says_so(imports, workspace, answers, qtbot, tmp_path):
    answers["reports"] = []
    imports.start([tmp_path / "run"])
    imports.strip.cancel()
    qtbot.waitUntil(lambda: not imports.strip.is_busy)
    assert imports.strip.words.text() == "Cancelled; nothing of run was imported."


def test_that_a_folder_is_chosen_in_the_dialog(imports, workspace, answers, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    workspace.import_requested.emit(False)
    dialog = imports.dialog
    assert not dialog.act.isEnabled()
    click(qtbot, dialog.folder)
    assert dialog.act.text() == "Import"
    with qtbot.waitSignal(workspace.view_requested):
        click(qtbot, dialog.act)


def test_that_a_single_file_is_chosen_in_the_dialog(imports, workspace, answers, qtbot, tmp_path, monkeypatch):
    metrics = tmp_path / "metrics.csv"
    metrics.write_text("step,reward\n1,0.5\n")
    asked = []
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *of: asked.append(of[-1]) or (str(metrics), ""))
    imports.choose()
    click(qtbot, imports.dialog.file)
    assert all(kind in asked[0] for kind in ("*.csv", "*.jsonl", "*.parquet", "*.json", "*tfevents*", "*.db"))
    click(qtbot, imports.dialog.act)
    qtbot.waitUntil(lambda: "from metrics.csv" in imports.strip.words.text())


def test_that_what_cannot_be_imported_is_told_while_it_is_typed(imports, qtbot, tmp_path):
    imports.choose()
    dialog = imports.dialog
    qtbot.keyClicks(dialog.field, str(tmp_path / "nothing"))
    assert dialog.problem.text() == "There is no such file or folder."
    assert not dialog.act.isEnabled()
    dialog.field.setText("ssh://host/runs/one")
    assert "tick the box" in dialog.problem.text()
    click(qtbot, dialog.follow)
    assert dialog.problem.text() == ""
    assert dialog.act.text() == "Follow"
    assert dialog.act.isEnabled()
    dialog.reject()


def test_that_only_files_of_this_machine_are_taken(tmp_path):
    data = QMimeData()
    assert dropped_paths(data) == []
    data.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    assert dropped_paths(data) == [tmp_path]
    data.setUrls([QUrl("https://example.org/run")])
    assert dropped_paths(data) == []
