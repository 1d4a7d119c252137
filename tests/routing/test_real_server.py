"""A real server: transformers serves the sort expert under OpenAI's API, and the router asks it like any other."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grpo_gui.routing.builtin_models import expert_folder

pytestmark = [pytest.mark.slow, pytest.mark.hf]
START_LIMIT_S = 120.0
TEMPLATE = "{{ bos_token }}{{ messages[-1]['content'] }}{{ '\\n' }}"


@pytest.fixture
def served(tmp_path):
    """The address of the server and the name that it knows the model by."""
    for package in ("openai", "transformers", "fastapi", "uvicorn"):
        pytest.importorskip(package, reason="needs the hf, router and test extras")
    folder = shutil.copytree(expert_folder("sort"), tmp_path / "expert")
    (folder / "snapshot.json").unlink()
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config |= {"chat_template": TEMPLATE, "split_special_tokens": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = str(Path(sys.executable).parent / "transformers")
    arguments = ["serve", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [program, *arguments, "--device", "cpu", "--dtype", "float32"],
        env=os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield f"http://127.0.0.1:{port}/v1", str(folder), process
    process.terminate()
    process.wait(30)


def test_that_a_model_of_a_real_server_is_asked_rated_preferred_and_routed_around_when_the_server_ends(
    opened, ask, ready, served
):
    url, model, process = served
    opened.service.begin()
    opened.service.remove_model("sort expert")
    opened.service.add_endpoint("served expert", url, model, cost_per_1000_tokens=1.0)
    _wait_until_alive(opened.service, ready, process)

    for digits in ("314159265", "271828182", "161803398", "141421356", "577215664", "693147180"):
        decided, ended = ask(f"Sort the digits: {digits}")
        assert ended["served expert"].state == "done"
        right = "".join(sorted(digits))
        opened.service.rate(decided.decision, {m: 5 if ended[m].text == right else 1 for m in decided.asked})
    answer = ended["served expert"]
    assert answer.text == right
    assert answer.tokens == 10  # with the end, as the server counted
    models = opened.service.explain("Sort the digits: 123123123").models
    assert models[0].model == "served expert"
    assert models[0].cost > 0

    process.terminate()
    process.wait(30)
    assert ask("Sort the digits: 31", count=3)[1]["served expert"].state == "failed"
    assert "cannot be reached" in ready("served expert").sentence
    assert "served expert" not in ask("Sort the digits: 31")[0].candidates


def _wait_until_alive(service, ready, process):
    end = time.monotonic() + START_LIMIT_S
    while ready("served expert").state != "ready":
        assert process.poll() is None
        assert time.monotonic() < end
        service.models.check("served expert")
