"""A tokenizer in a model folder: tokenizer.json and the files that name its special tokens."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tokenizers

from grpo_gui.errors import ModelError
from grpo_gui.language.chat_tokenizer import ChatTokenizer
from grpo_gui.language.config import DecoderConfig, token_ids
from grpo_gui.language.tokenizer import SpecialTokens, Tokenizer
from grpo_gui.language.weights import read_json

TOKENIZER, TOKENIZER_CONFIG, GENERATION_CONFIG = "tokenizer.json", "tokenizer_config.json", "generation_config.json"
_SUFFIX = "grpo_gui_prompt_suffix"  # our own field; transformers keeps fields that it does not know
_LITERAL = "split_special_tokens"  # transformers' field: special tokens typed in a text are plain characters


def load_tokenizer(folder: Path, config: DecoderConfig) -> Tokenizer:
    """The tokenizer of a model folder.

    The EOS ids are all that generation_config.json, config.json and tokenizer_config.json name.

    Raises:
        ModelError: tokenizer.json is missing or damaged, its vocabulary exceeds the model's, or no EOS is named.
    """
    path = folder / TOKENIZER
    if not path.is_file():
        raise ModelError(f"{folder} has no {TOKENIZER}; save the tokenizer with transformers' fast tokenizer classes.")
    try:
        raw = tokenizers.Tokenizer.from_buffer(path.read_bytes())  # from_file would raise bare Exceptions
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} is no readable tokenizer ({error}); copy it again from its source.") from error
    settings = read_json(folder, TOKENIZER_CONFIG) if (folder / TOKENIZER_CONFIG).is_file() else {}
    generation = read_json(folder, GENERATION_CONFIG) if (folder / GENERATION_CONFIG).is_file() else {}
    if raw.get_vocab_size() > config.vocab_size:
        raise ModelError(
            f"{path} has {raw.get_vocab_size()} tokens, but the model only {config.vocab_size}; "
            "the two are of different models."
        )
    raw.encode_special_tokens = bool(settings.get(_LITERAL, False))
    raw.no_truncation()  # a prompt must never lose its end or gain padding behind our back
    raw.no_padding()
    return Tokenizer(raw, _special(raw, config, settings, generation, folder))


def save_tokenizer(folder: Path, tokenizer: Tokenizer) -> None:
    """Write tokenizer.json, tokenizer_config.json and generation_config.json so that transformers loads them."""
    if isinstance(tokenizer, ChatTokenizer):
        tokenizer.write_files(folder)
        write_json(folder / GENERATION_CONFIG, _generation(tokenizer.special))
        return
    special, raw = tokenizer.special, tokenizer.raw
    raw.save(str(folder / TOKENIZER))
    ends = sorted(special.eos_ids)
    settings: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "padding_side": "left",
        _LITERAL: bool(raw.encode_special_tokens),
        _SUFFIX: special.prompt_suffix,
        "pad_token": raw.id_to_token(special.pad_id),
    }
    if special.bos_id is not None:
        settings["bos_token"] = raw.id_to_token(special.bos_id)
    if ends:
        settings["eos_token"] = raw.id_to_token(ends[0])
    write_json(folder / TOKENIZER_CONFIG, settings)
    write_json(folder / GENERATION_CONFIG, _generation(special))


def _generation(special: SpecialTokens) -> dict[str, Any]:
    ends = sorted(special.eos_ids)
    return {
        "bos_token_id": special.bos_id,
        "eos_token_id": ends[0] if len(ends) == 1 else ends or None,
        "pad_token_id": special.pad_id,
    }


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write a JSON object with an indent and a newline at the end."""
    path.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


def _special(
    raw: tokenizers.Tokenizer,
    config: DecoderConfig,
    settings: Mapping[str, Any],
    generation: Mapping[str, Any],
    folder: Path,
) -> SpecialTokens:
    named = {field: _id_of(raw, settings.get(field)) for field in ("bos_token", "eos_token", "pad_token")}
    ends = {*config.eos_token_ids, *token_ids(generation.get("eos_token_id"))}
    if named["eos_token"] is not None:
        ends.add(named["eos_token"])
    if not ends:
        raise ModelError(f"No file in {folder} names an end-of-text token; add eos_token_id to config.json.")
    pads = (named["pad_token"], config.pad_token_id, min(ends))
    return SpecialTokens(
        pad_id=next(pad for pad in pads if pad is not None),
        bos_id=named["bos_token"] if named["bos_token"] is not None else config.bos_token_id,
        eos_ids=frozenset(ends),
        prompt_suffix=str(settings.get(_SUFFIX, "")),
    )


def _id_of(raw: tokenizers.Tokenizer, token: object) -> int | None:
    """The id of a token named in tokenizer_config.json, as text or as an object with `content`."""
    text = token.get("content") if isinstance(token, dict) else token
    found = raw.token_to_id(text) if isinstance(text, str) else None
    return None if found is None else int(found)
