import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.errors import BadInputError, GrpoGuiError
from grpo_gui.settings import Settings, load, problems, save

CHANGED = Settings(theme="dark", device="cuda:1", threads=4, database="/data/ünï.db", eval_steps=0)


def test_that_settings_come_back_as_they_were_saved(tmp_path):
    path = tmp_path / "deep" / "settings.json"
    save(CHANGED, path)
    assert load(path).settings == CHANGED
    assert load(path).warning is None
    assert [file.name for file in path.parent.iterdir()] == ["settings.json"]


def test_that_defaults_are_used_without_a_file(tmp_path):
    loaded = load(tmp_path / "settings.json")
    assert loaded.settings == Settings()
    assert loaded.warning is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"threads": 0}',
        '{"threads": "2"}',
        '{"threads": true}',
        '{"theme": 3}',
        '{"device": "gpu"}',
    ],
)
def test_that_a_broken_file_is_kept_aside_and_said_so(tmp_path, text):
    path = tmp_path / "settings.json"
    path.write_text(text)
    loaded = load(path)
    assert loaded.settings == Settings()
    assert str(tmp_path / "settings.json.broken") in loaded.warning
    assert (tmp_path / "settings.json.broken").read_text() == text
    assert not path.exists()


def test_that_bytes_that_are_no_text_are_kept_aside_without_overwriting_an_earlier_one(tmp_path):
    path = tmp_path / "settings.json"
    (tmp_path / "settings.json.broken").write_text("earlier")
    path.write_bytes(b"\xff\xfe\x00")
    assert "broken-2" in load(path).warning
    assert (tmp_path / "settings.json.broken").read_text() == "earlier"


def test_that_fields_of_another_version_are_left_out_and_missing_ones_get_defaults(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"theme": "light", "font": "big"}))
    assert load(path).settings == Settings(theme="light")


def test_that_a_bad_setting_is_not_saved(tmp_path):
    with pytest.raises(BadInputError, match="Threads is a whole number"):
        save(Settings(threads=0), tmp_path / "settings.json")
    assert not list(tmp_path.iterdir())


def test_that_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(GrpoGuiError, match="cannot be saved"):
        save(Settings(), tmp_path / "file" / "settings.json")


def test_that_a_folder_in_place_of_the_file_gives_defaults_and_a_sentence(tmp_path):
    loaded = load(tmp_path)
    assert loaded.settings == Settings()
    assert "cannot be read" in loaded.warning


@pytest.mark.parametrize("device", ["auto", "cpu", "mps", "cuda", "cuda:0", "cuda:15"])
def test_that_devices_are_accepted(device):
    assert not problems(Settings(device=device))


@given(st.text())
def test_that_any_other_device_is_refused_with_a_sentence(device):
    if device not in ("auto", "cpu", "mps", "cuda") and not device.startswith("cuda:"):
        assert "device" in problems(Settings(device=device))
