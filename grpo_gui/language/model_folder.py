"""What lies in a model's folder, told without torch: a checkpoint, one GGUF file, an adapter, or only pickles."""

from collections.abc import Sequence
from pathlib import Path

from grpo_gui.errors import ModelError

CONFIG = "config.json"
ADAPTER = "adapter_config.json"
WEIGHTS = "model.safetensors"
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_SHOWN = 3  # names in one message


def find_model(path: Path) -> tuple[Path, str]:
    """Return the folder of a model, and the name of the GGUF file in it or "".

    Raises:
        ModelError: there is no model, more than one GGUF file, or the weights are only there as pickle.
    """
    if path.is_file():
        return _of_file(path)
    if not path.is_dir():
        raise ModelError(f"There is no model folder {path}; choose a folder with a model, or a GGUF file.")
    if (path / ADAPTER).is_file():
        return path, ""
    if (path / CONFIG).is_file():
        refuse_pickles(path)
        return path, ""
    files = sorted(file.name for file in path.glob("*.gguf"))
    if len(files) > 1:
        raise ModelError(f"{path} holds {len(files)} GGUF files; name one of them: {some(files, 5)}.")
    if not files:
        raise ModelError(f"{path} has no config.json and no GGUF file; choose a folder with a model.")
    return path, files[0]


def refuse_pickles(folder: Path) -> None:
    """Accept a folder that has weights as safetensors.

    Raises:
        ModelError: it has none; the sentence tells how to convert a pickle.
    """
    if any(folder.glob("*.safetensors")):
        return
    pickles = sorted(file.name for file in folder.iterdir() if file.suffix in PICKLES)
    if pickles:
        raise ModelError(pickle_sentence(f"{folder} holds weights only as pickle ({some(pickles)})", folder))
    raise ModelError(f"{folder} has no {WEIGHTS}; a model folder needs config.json, tokenizer.json and {WEIGHTS}.")


def pickle_sentence(what: str, folder: Path) -> str:
    """Why a pickle is refused, and how to convert the model in `folder` where it is trusted."""
    return (
        f"{what}, which can run code when opened and is never loaded here. Where you trust it, convert it once with "
        'transformers: python -c "from transformers import AutoModelForCausalLM as M; '
        f"M.from_pretrained(r'{folder}').save_pretrained(r'{folder}')\""
    )


def some(names: Sequence[str], shown: int = _SHOWN) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def _of_file(path: Path) -> tuple[Path, str]:
    if path.suffix == ".gguf":
        return path.parent, path.name
    if path.suffix in PICKLES:
        raise ModelError(pickle_sentence(f"{path} is a pickle", path.parent))
    raise ModelError(f"{path} is a file; a model is a folder with config.json and {WEIGHTS}, or a GGUF file.")
