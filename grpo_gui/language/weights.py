"""Weights in a model folder: one safetensors file, or several with an index. Pickles are never opened."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from grpo_gui.errors import ModelError
from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.decoder import Decoder
from grpo_gui.language.model_folder import WEIGHTS, refuse_pickles, some

INDEX = "model.safetensors.index.json"
_HEAD, _EMBEDDING = "lm_head.weight", "model.embed_tokens.weight"


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """The JSON object in `folder/name`; raises ModelError when it is missing or no JSON object."""
    path = folder / name
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(
            f"{folder} has no {name}; a model folder needs config.json, tokenizer.json and {WEIGHTS}."
        ) from error
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read ({error}); copy the file again from its source.") from error
    if not isinstance(values, dict):
        raise ModelError(f"{path} holds no JSON object; copy the file again from its source.")
    return values


def read_weights(folder: Path) -> dict[str, Tensor]:
    """All tensors of a model folder by name, on the CPU, in the dtype of the files.

    Raises:
        ModelError: no safetensors in the folder (pickles are refused), a missing part, a damaged file.
    """
    if (folder / WEIGHTS).is_file():
        names = [WEIGHTS]
    elif (folder / INDEX).is_file():
        places = read_json(folder, INDEX).get("weight_map")
        if not isinstance(places, dict):
            raise ModelError(f"{folder / INDEX} has no weight_map; copy the file again from its source.")
        names = sorted(set(places.values()))
    else:
        refuse_pickles(folder)
        raise ModelError(f"{folder} has no {WEIGHTS} and no {INDEX}; copy the model again from its source.")
    weights: dict[str, Tensor] = {}
    for name in names:
        weights.update(_read_file(folder / name))
    return weights


def build_decoder(config: DecoderConfig, weights: Mapping[str, Tensor], source: Path) -> Decoder:
    """A float32 decoder on the CPU with these weights.

    Raises:
        ModelError: a tensor is missing, has another shape, or is unknown to this architecture.
    """
    with torch.device("meta"):
        decoder = Decoder(config)
    expected = cast(dict[str, Tensor], decoder.state_dict())
    found = {name: tensor for name, tensor in weights.items() if not name.endswith("rotary_emb.inv_freq")}
    if config.tie_word_embeddings:
        found.pop(_HEAD, None)
    if missing := sorted(set(expected) - set(found)):
        raise ModelError(f"{source} lacks the weights {some(missing)}; copy the model again from its source.")
    if unknown := sorted(set(found) - set(expected)):
        raise ModelError(
            f"{source} has weights that a Llama decoder does not know: {some(unknown)}. Choose another model."
        )
    for name, tensor in expected.items():
        if found[name].shape != tensor.shape:
            raise ModelError(
                f"{name} in {source} has the shape {tuple(found[name].shape)}, but config.json says "
                f"{tuple(tensor.shape)}; the two files are of different models."
            )
    # a copy for each parameter: the tensors of a file may be mapped read-only or shared
    copies = {name: found[name].to(torch.float32, copy=True) for name in expected}
    decoder.load_state_dict(copies, assign=True)
    return decoder.requires_grad_(True)


def write_weights(folder: Path, decoder: Decoder, dtype: torch.dtype) -> None:
    """Write `folder/model.safetensors` in `dtype`; a half-written file never takes the name."""
    weights = {name: tensor.detach().to("cpu", dtype).contiguous() for name, tensor in decoder.state_dict().items()}
    unfinished = folder / (WEIGHTS + ".part")
    save_file(weights, unfinished, metadata={"format": "pt"})
    unfinished.replace(folder / WEIGHTS)


def _read_file(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except FileNotFoundError as error:
        raise ModelError(f"{path} is missing, but the index names it; copy the model again from its source.") from error
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{path} is no readable safetensors file ({error}); copy it again from its source.") from error
