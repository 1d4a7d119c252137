"""Tiny random models of several architectures as folders, with the built-in tokenizer and a chat template."""

import json
from pathlib import Path

import torch

from grpo_gui.language.tokenizer import build_builtin_tokenizer
from grpo_gui.language.tokenizer_files import save_tokenizer

TEMPLATE = (
    "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no tools here') }}{% endif %}"
    "[{{ m.role }}]{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
)


def make_hf_model(folder: Path, kind: str = "olmo2", *, template: str | None = TEMPLATE, **changes: object) -> Path:
    import transformers

    torch.manual_seed(0)
    values = {
        "vocab_size": 100,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 128,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 0,
    }
    config = transformers.AutoConfig.for_model(kind, **values | changes)
    model = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.2)
    model.save_pretrained(folder)
    save_tokenizer(folder, build_builtin_tokenizer())
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings.pop("grpo_gui_prompt_suffix")
    if template is not None:
        settings["chat_template"] = template
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder
