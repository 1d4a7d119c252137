import json
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from grpo_gui.commands import Resume
from grpo_gui.errors import GrpoGuiError
from grpo_gui.events import RunStatus
from grpo_gui.settings import Settings
from grpo_gui.tasks.bench import BenchRow
from grpo_gui.tasks.reward_file import confirm
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.training.data_rows import DataPreview, DataRow
from grpo_gui.training.reward_files import specs_of_file, unconfirmed_files
from grpo_gui.training.validation import config_to_json
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.models.config_draft import ConfigDraft
from grpo_gui.ui.widgets.all_settings import AllSettings
from grpo_gui.ui.widgets.confirm_file import ConfirmFile
from grpo_gui.ui.widgets.data_card import DataCard
from grpo_gui.ui.widgets.reward_bench import RewardBench
from grpo_gui.ui.widgets.run_form_card import RunFormCard
from tests.ui.fakes import run_record

SOURCE = "def short(completions): return [-len(text) for text in completions]\ndef long(completions): return []\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr("grpo_gui.tasks.reward_file.confirmed_files_file", lambda: tmp_path / "confirmed.json")
    path = tmp_path / "mine.py"
    path.write_text(SOURCE)
    return path


def test_that_the_functions_of_a_file_become_sources_and_ask_for_a_confirmation(file, qtbot):
    settings = AllSettings()
    qtbot.addWidget(settings)
    settings.show_config(TrainConfig())
    edited = []
    settings.rewards_edited.connect(edited.append)
    settings.reward_files.add_file(file)
    assert [(spec.name, spec.kind, spec.argument) for spec in edited[0]] == [
        ("short", "python", f"{file}::short"),
        ("long", "python", f"{file}::long"),
    ]
    settings.show_config(replace(TrainConfig(), rewards=edited[0]))
    assert not settings.reward_files.confirm.isHidden()
    assert settings.reward_files.bench.isHidden()
    confirm(file)
    settings.reward_files.show_specs(edited[0])
    assert settings.reward_files.confirm.isHidden()
    assert not settings.reward_files.bench.isHidden()


def test_that_a_file_without_functions_is_told_below_the_button(tmp_path, qtbot):
    settings = AllSettings()
    qtbot.addWidget(settings)
    (tmp_path / "empty.py").write_text("x = 1\n")
    settings.reward_files.add_file(tmp_path / "empty.py")
    assert "holds no reward function" in settings.reward_files.problem.text()


def test_that_the_question_shows_path_hash_and_text_and_confirms_only_what_was_shown(file, qtbot):
    question = ConfirmFile(file)
    qtbot.addWidget(question)
    assert str(file) in question.text()
    assert question.sha256 in question.informativeText()
    assert question.detailedText() == SOURCE
    specs = specs_of_file(file)
    assert unconfirmed_files(specs) == [file]
    question.confirm()
    assert unconfirmed_files(specs) == []
    file.write_text(SOURCE + "\n")
    with pytest.raises(GrpoGuiError, match="changed while you looked"):
        question.confirm()


def test_that_a_resume_with_a_changed_file_asks_first(file, workspace, launcher, qtbot):
    config = replace(TrainConfig(), rewards=specs_of_file(file))
    run = run_record(1, config=config_to_json(config), status=RunStatus.STOPPED, state_path="state")
    asked = []
    workspace.confirmation_needed.connect(lambda paths, retry: asked.append((paths, retry)))
    workspace.resume_run(run)
    assert [paths for paths, _ in asked] == [[file]]
    assert launcher.started == []
    confirm(file)
    asked[0][1]()
    assert len(launcher.started) == 1
    file.write_text(SOURCE + "\n")
    workspace.post(Resume())
    assert [paths for paths, _ in asked] == [[file], [file]]


def test_that_the_bench_shows_values_failures_and_the_best_trick(qtbot):
    requests = []
    specs = [RewardSpec("one", "exact", 2.0), RewardSpec("two", "length")]
    bench = RewardBench(specs, lambda *request: requests.append(request))
    qtbot.addWidget(bench)
    bench.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    bench.show()
    bench.start()
    bench.start()
    assert len(requests) == 1
    rows = [BenchRow("typed", "4", (1.0, None), ("", "")), BenchRow("empty", "", (1.5, None), ("", ""))]
    requests[0][1](rows)
    assert bench.table.item(0, 1).text() == "1"
    assert bench.table.item(0, 2).text() == "no opinion"
    assert bench.sentence.text() == "'empty' earns 3, more than the typed text's 2: it will be learned."
    bench.show_rows([BenchRow("typed", "4", ("It failed.", 1.0), ("Traceback here", ""))])
    assert "failed for 'typed'" in bench.sentence.text()
    bench.table.setCurrentCell(0, 1)
    assert "Traceback here" in bench.details.toPlainText()
    assert bench.details.isVisible()


def test_that_the_form_says_how_much_memory_a_model_of_the_user_needs(tmp_path, qtbot):
    shape = {"hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 50000}
    (tmp_path / "config.json").write_text(json.dumps(shape))
    card = RunFormCard(ConfigDraft(Settings()))
    qtbot.addWidget(card)
    assert card.memory.isHidden()
    card.draft.change(replace(card.draft.config, model=str(tmp_path), device="cuda"))
    assert "GB of the card's memory" in card.memory.text()
    card.draft.change(replace(card.draft.config, device="cpu"))
    assert "The run will need about" in card.memory.text()


def test_that_the_data_card_shows_rows_as_the_model_sees_them_and_reads_again_only_where_needed(qtbot):
    requests = []
    card = DataCard(lambda *request: requests.append(request))
    qtbot.addWidget(card)
    card.show_config(TrainConfig())
    assert card.isHidden()
    config = TrainConfig(task="file", prompt_file="a.jsonl")
    card.show_config(config)
    card.show_config(replace(config, learning_rate=1e-3))
    assert len(requests) == 1
    requests[0][1](DataPreview((DataRow("<user>2+2?", "4", 7, 3),), 12))
    assert "12 rows" in card.sentence.text()
    assert card.texts[0].text() == "<user>2+2?"
    assert card.facts[0].text() == "7 tokens, 3 tokens at its beginning are cut off; answer 4"
    assert card.texts[1].isHidden()
    card.show_config(replace(config, system_prompt="Hm."))
    assert len(requests) == 2
    requests[1][2](TaskFailure("Line 3 is not JSON.", ""))
    assert card.sentence.text() == "Line 3 is not JSON."
    card.again.click()
    assert len(requests) == 3
