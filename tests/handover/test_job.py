import json
from dataclasses import replace

import pytest

from grpo_gui.errors import BadInputError, TrainingError
from grpo_gui.handover.accelerate_file import NAME, template
from grpo_gui.handover.job import JOB, new_job, read_job, write_job
from grpo_gui.handover.placement import Placement
from grpo_gui.training.config import RewardSpec, TrainConfig

CONFIG = TrainConfig(device="cpu", rewards=(RewardSpec("naïve", "regex", 0.5, "a+"),))


def test_that_a_job_is_read_as_it_was_written(tmp_path):
    job = new_job("sort, 数", CONFIG, Placement(4, 2, "torchrun", "first"))
    write_job(tmp_path / "deep" / "trl", job)
    assert read_job(tmp_path / "deep" / "trl") == job
    assert not (tmp_path / "deep" / "trl" / NAME).exists()


def test_that_what_a_person_changes_in_the_job_is_used(tmp_path):
    write_job(tmp_path, new_job("x", CONFIG, Placement()))
    path = tmp_path / JOB
    path.write_text(path.read_text().replace('"beta": 0.02', '"beta": 0.5'))
    assert read_job(tmp_path).options["beta"] == 0.5


def test_that_the_file_of_accelerate_lies_beside_the_job(tmp_path):
    place = Placement(2, sharing="fsdp")
    write_job(tmp_path, new_job("x", CONFIG, place), "mine: 1\n")
    assert (tmp_path / NAME).read_text() == "mine: 1\n"


@pytest.mark.parametrize(("sharing", "kind"), [("ddp", "MULTI_GPU"), ("fsdp", "FSDP"), ("deepspeed", "DEEPSPEED")])
def test_that_a_template_names_its_kind_and_its_numbers(sharing, kind):
    text = template(Placement(4, 2, sharing, "h"), bf16=True)
    for line in (f"distributed_type: {kind}", "num_processes: 8", "num_machines: 2", 'mixed_precision: "bf16"'):
        assert line in text.splitlines()


@pytest.mark.trl
@pytest.mark.parametrize("sharing", ["ddp", "fsdp", "deepspeed"])
def test_that_accelerate_reads_the_templates(sharing, tmp_path):
    pytest.importorskip("accelerate")
    from accelerate.commands.config.config_args import ClusterConfig, load_config_from_file

    path = tmp_path / NAME
    path.write_text(template(Placement(4, sharing=sharing), bf16=False))
    config = load_config_from_file(str(path))
    assert isinstance(config, ClusterConfig)
    assert config.num_processes == 4
    assert config.mixed_precision == "no"
    assert config.use_cpu is False


@pytest.mark.parametrize(
    "content",
    ["", "[1]", '{"version": 9}', '{"version": 1}', '{"version": 1, "trl": [], "config": {}, "name": "", "place": {}}'],
)
def test_that_a_file_that_is_no_job_is_named(content, tmp_path):
    (tmp_path / JOB).write_text(content)
    with pytest.raises(BadInputError, match=r"start the run again|reads version 1"):
        read_job(tmp_path)


def test_that_a_folder_without_job_is_named(tmp_path):
    with pytest.raises(BadInputError, match="There is no job in"):
        read_job(tmp_path)


def test_that_a_disk_that_refuses_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrainingError, match="cannot be written"):
        write_job(tmp_path / "file" / "trl", new_job("x", replace(CONFIG, seed=1), Placement()))


def test_that_the_job_is_text_that_a_person_can_read(tmp_path):
    write_job(tmp_path, new_job("x", CONFIG, Placement()))
    text = (tmp_path / JOB).read_text(encoding="utf-8")
    assert "naïve" in text
    assert json.loads(text)["trl"]["learning_rate"] == 3e-4
