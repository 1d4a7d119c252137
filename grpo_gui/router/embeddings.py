"""Query features from a sentence embedding model in a local folder, such as all-MiniLM-L6-v2 (needs the hf extra)."""

import json
from collections.abc import Sequence
from pathlib import Path

import torch

from grpo_gui.errors import MissingExtraError, ModelError
from grpo_gui.router.features import Float32Array

MAX_TOKENS = 256  # of a query; what follows is not looked at
_BATCH = 32


class SentenceEmbeddings:
    """Mean-pooled, normalised token states of a sentence-transformers-style folder."""

    def __init__(self, folder: Path) -> None:
        """Load the model on the CPU (seconds).

        Raises:
            MissingExtraError: transformers is not installed.
            ModelError: the folder holds no such model.
        """
        try:
            from transformers import AutoModel, AutoTokenizer
            from transformers.utils import logging
        except ImportError as error:
            raise MissingExtraError(
                "Sentence embeddings need the transformers package: pip install 'grpo-gui[hf]'."
            ) from error
        logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # transformers has no types
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # it would run through what we print
        folder = model_folder(folder)
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
            self._model = AutoModel.from_pretrained(str(folder), local_files_only=True).eval()
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"The sentence embedding model in {folder} cannot be loaded: {error}.") from error
        self.name = str(folder)
        self.size = int(self._model.config.hidden_size)

    def __call__(self, queries: Sequence[str]) -> Float32Array:
        """Features (queries, hidden size of the model), rows of length 1."""
        blocks = [self._embed(list(queries[start : start + _BATCH])) for start in range(0, len(queries), _BATCH)]
        result: Float32Array = torch.cat(blocks).numpy() if blocks else torch.zeros(0, self.size).numpy()
        return result

    def _embed(self, queries: list[str]) -> torch.Tensor:
        batch = self._tokenizer(queries, padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
        with torch.inference_mode():
            states: torch.Tensor = self._model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1).to(states.dtype)
        mean = (states * mask).sum(1) / mask.sum(1).clamp(min=1)
        return torch.nn.functional.normalize(mean, dim=1).clone()


def model_folder(folder: Path) -> Path:
    """The folder that holds config.json: this one, or the transformer module that modules.json names.

    Raises:
        ModelError: there is none.
    """
    if (folder / "config.json").is_file():
        return folder
    modules = folder / "modules.json"
    if modules.is_file():
        for module in json.loads(modules.read_text(encoding="utf-8")):
            if (folder / str(module.get("path", "")) / "config.json").is_file():
                return folder / str(module["path"])
    raise ModelError(f"{folder} holds no sentence embedding model; choose a folder with a config.json and its weights.")
