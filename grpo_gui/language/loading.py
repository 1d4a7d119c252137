"""Load a language model from a Hugging Face folder; the built-in base model is one of them."""

from pathlib import Path

import torch

import grpo_gui
from grpo_gui.errors import ModelError
from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.model_folder import CONFIG
from grpo_gui.language.policy import LanguagePolicy
from grpo_gui.language.saving import save_model as save_model
from grpo_gui.language.tokenizer_files import load_tokenizer
from grpo_gui.language.weights import build_decoder, read_json, read_weights

BUILTIN = "builtin"


def builtin_folder() -> Path:
    """The folder of the base model that is shipped: inside an installed package, beside it in a clone."""
    package = Path(grpo_gui.__file__).parent
    for folder in (package / "resources" / "base", package.parent / "resources" / "base"):
        if (folder / CONFIG).is_file():
            return folder
    raise ModelError(
        "The built-in base model is missing from resources/base; install grpo-gui again or run grpo-gui pretrain."
    )


def load_policy(model: str, device: torch.device | str) -> LanguagePolicy:
    """The policy in a folder of the Llama family, or the built-in one; in float32 on `device`.

    Args:
        model: "builtin", or the path of a folder with config.json, tokenizer.json and safetensors.
        device: as torch names it, for example "cpu" or "cuda:0".

    Raises:
        ModelError: the folder is missing, incomplete, damaged or of another architecture.
    """
    folder = builtin_folder() if model == BUILTIN else Path(model)
    if not folder.is_dir():
        raise ModelError(
            f"The model folder {folder} does not exist; choose a folder, or {BUILTIN!r} for the shipped model."
        )
    config = DecoderConfig.from_json(read_json(folder, CONFIG))
    tokenizer = load_tokenizer(folder, config)
    decoder = build_decoder(config, read_weights(folder), folder)
    return LanguagePolicy(decoder.to(device), tokenizer)
