"""Save a language model as a Hugging Face folder that `load_policy` and transformers' Auto classes load."""

from pathlib import Path

import torch

from grpo_gui.errors import ModelError
from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.decoder import Decoder
from grpo_gui.language.model_folder import CONFIG
from grpo_gui.language.tokenizer import Tokenizer
from grpo_gui.language.tokenizer_files import save_tokenizer, write_json
from grpo_gui.language.weights import write_weights


def save_model(
    folder: Path, model: Decoder, tokenizer: Tokenizer, config: DecoderConfig, dtype: torch.dtype = torch.float32
) -> None:
    """Write a folder that `load_policy` and transformers' Auto classes load; it is made when missing.

    Raises:
        ModelError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_weights(folder, model, dtype)
        save_tokenizer(folder, tokenizer)
        name = str(dtype).removeprefix("torch.")
        write_json(folder / CONFIG, {**config.to_json(), "dtype": name, "torch_dtype": name})
    except OSError as error:
        raise ModelError(
            f"The model cannot be saved in {folder} ({error}); choose a folder with room and write access."
        ) from error
