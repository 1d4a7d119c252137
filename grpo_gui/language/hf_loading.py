"""Load any causal language model that lies on this machine, through transformers; nothing is downloaded or run."""

import os
import struct
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError

from grpo_gui.errors import BadInputError, MissingExtraError, ModelError
from grpo_gui.language.chat_tokenizer import ChatTokenizer
from grpo_gui.language.config import DecoderConfig, token_ids
from grpo_gui.language.hf_policy import HfPolicy
from grpo_gui.language.loading import BUILTIN, load_policy
from grpo_gui.language.model_folder import ADAPTER, CONFIG, find_model
from grpo_gui.language.policy import LanguagePolicy
from grpo_gui.language.tokenizer import SpecialTokens
from grpo_gui.language.tokenizer_files import TOKENIZER_CONFIG
from grpo_gui.language.weights import build_decoder, read_json

MISSING_HF = 'This model needs transformers; install it with: pip install "grpo-gui[hf]".'
LOGITS_TOLERANCE = 2e-3  # of the built-in decoder against transformers, in float32
_LOADING_ERRORS = (
    *(OSError, ValueError, LookupError, TypeError, ImportError, AttributeError, RuntimeError),
    *(SafetensorError, struct.error),
)
_PROBE = tuple(range(3, 19))


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model is used. `lora_rank` 0 trains all weights; `max_completion_length` leaves room in the context."""

    lora_rank: int = 0
    chat_template: bool = True
    system_prompt: str = ""
    gradient_checkpointing: bool = False
    max_completion_length: int = 0
    seed: int = 0  # of a new adapter's weights


def open_policy(model: str, device: torch.device | str, options: ModelOptions) -> LanguagePolicy | HfPolicy:
    """Return the policy for a model folder, a GGUF file or folder, an adapter's folder, or the built-in model.

    A model of the Llama family that is trained whole gets the built-in fast path when it gives the same logits.

    Raises:
        ModelError: the model cannot be used.
        MissingExtraError: transformers, peft or gguf is needed and missing.
    """
    path = Path(model)
    if model == BUILTIN or (options.lora_rank == 0 and _is_plain_llama(path, options)):
        if options.lora_rank:
            raise BadInputError("The built-in model is small and trained whole; set lora_rank to 0.")
        return load_policy(model, device)
    hf_model, tokenizer = _load(path, options)
    if options.lora_rank:
        return HfPolicy(
            _with_adapter(hf_model, path, options).to(device),
            tokenizer,
            uses_adapter=True,
            gradient_checkpointing=options.gradient_checkpointing,
        )
    fast = None if options.gradient_checkpointing else _fast_path(hf_model, tokenizer, path)
    if fast is not None:
        return LanguagePolicy(fast.decoder.to(device), tokenizer)
    return HfPolicy(hf_model.to(device), tokenizer, gradient_checkpointing=options.gradient_checkpointing)


def load_tokenizer_of(model: str, options: ModelOptions) -> Any:  # noqa: ANN401 - Tokenizer or ChatTokenizer
    """Return only the tokenizer of a model, as `open_policy` would make it: quick, for previews of data."""
    path = Path(model)
    if model == BUILTIN or _is_plain_llama(path, options):
        from grpo_gui.language.loading import builtin_folder
        from grpo_gui.language.tokenizer_files import load_tokenizer

        folder = builtin_folder() if model == BUILTIN else path
        return load_tokenizer(folder, DecoderConfig.from_json(read_json(folder, CONFIG)))
    folder, gguf = find_model(path)
    transformers = _transformers()
    arguments = {"gguf_file": gguf} if gguf else {}
    config = _guarded(
        partial(transformers.AutoConfig.from_pretrained, folder, local_files_only=True, **arguments), folder
    )
    return _tokenizer(folder, gguf, config, None, options)


def _is_plain_llama(path: Path, options: ModelOptions) -> bool:
    """True for a folder that the built-in loader reads whole: of ours, or without a chat template to apply."""
    if not (path / CONFIG).is_file() or options.system_prompt or options.gradient_checkpointing:
        return False
    settings = read_json(path, TOKENIZER_CONFIG) if (path / TOKENIZER_CONFIG).is_file() else {}
    if "grpo_gui_prompt_suffix" in settings:
        return True
    try:
        DecoderConfig.from_json(read_json(path, CONFIG))
    except ModelError:
        return False
    has_template = "chat_template" in settings or (path / "chat_template.jinja").is_file()
    return not (has_template and options.chat_template) and _missing_transformers()


def _missing_transformers() -> bool:
    from importlib.util import find_spec

    return find_spec("transformers") is None


def _load(path: Path, options: ModelOptions) -> tuple[Any, ChatTokenizer]:
    folder, gguf = find_model(path)
    transformers = _transformers()
    if (folder / ADAPTER).is_file():
        model = _load_adapter(folder)
        return model, _tokenizer(folder, "", model.config, model.generation_config, options)
    arguments: dict[str, Any] = {"dtype": torch.float32, "local_files_only": True, "trust_remote_code": False}
    if gguf:
        arguments |= {"gguf_file": gguf, "quantization_config": _gguf_config(gguf)}
    else:
        arguments |= {"use_safetensors": True}
    model, info = _guarded(
        partial(transformers.AutoModelForCausalLM.from_pretrained, folder, output_loading_info=True, **arguments),
        folder,
    )
    if missing := sorted(info["missing_keys"]):
        raise ModelError(f"{folder} lacks the weights {', '.join(missing[:3])}; copy the model again from its source.")
    return model, _tokenizer(folder, gguf, model.config, model.generation_config, options)


def _transformers() -> Any:  # noqa: ANN401 - transformers has no types
    os.environ["HF_HUB_OFFLINE"] = "1"  # read when transformers is imported
    try:
        transformers: Any = import_module("transformers")
    except ModuleNotFoundError:
        raise MissingExtraError(MISSING_HF) from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return transformers


def _gguf_config(gguf: str) -> Any:  # noqa: ANN401 - transformers has no types
    try:
        import gguf as _gguf  # noqa: F401 - transformers would only warn
    except ModuleNotFoundError:
        raise MissingExtraError(
            'A GGUF file needs the package gguf; install it with: pip install "grpo-gui[hf]".'
        ) from None
    return _transformers().GgufConfig(gguf_file=gguf, dequantize=True)


def _guarded(load: Callable[[], Any], folder: Path) -> Any:  # noqa: ANN401 - transformers has no types
    """Load something of a model folder; what goes wrong there becomes a sentence."""
    try:
        return load()
    except _LOADING_ERRORS as error:
        text = " ".join(str(error).split())
        if "trust_remote_code" in text:
            raise ModelError(
                f"The model in {folder} needs code of its own, which is never run here; choose a model whose "
                "architecture transformers knows."
            ) from error
        if "out of memory" in text:
            raise
        shown = text if len(text) <= 300 else text[:300] + "\u2026"
        raise ModelError(f"{folder} cannot be loaded ({type(error).__name__}: {shown}).") from error


def _tokenizer(folder: Path, gguf: str, config: Any, generation: Any, options: ModelOptions) -> ChatTokenizer:  # noqa: ANN401
    transformers = _transformers()
    arguments = {"gguf_file": gguf} if gguf else {}
    tokenizer = _guarded(
        partial(
            transformers.AutoTokenizer.from_pretrained,
            folder,
            local_files_only=True,
            trust_remote_code=False,
            **arguments,
        ),
        folder,
    )
    raw = getattr(tokenizer, "backend_tokenizer", None)
    if raw is None:
        raise ModelError(f"{folder} has no fast tokenizer (tokenizer.json); save one with transformers and try again.")
    text_config = config.get_text_config()
    if len(tokenizer) > text_config.vocab_size:
        raise ModelError(
            f"The tokenizer in {folder} has {len(tokenizer)} tokens, but the model only {text_config.vocab_size}; "
            "the two are of different models."
        )
    special = _special(folder, tokenizer, text_config, generation)
    context = int(getattr(text_config, "max_position_embeddings", 0) or 0)
    limit = context - options.max_completion_length if context else 0
    if context and limit < 1:
        raise BadInputError(
            f"max_completion_length {options.max_completion_length} leaves no room for a prompt in the model's "
            f"context of {context} tokens; lower it."
        )
    template: Callable[[list[dict[str, str]]], list[int]] | None = None
    if options.chat_template and tokenizer.chat_template:
        template = partial(_apply_template, tokenizer, folder)
    return ChatTokenizer(
        raw,
        special,
        template=template,
        system_prompt=options.system_prompt,
        prompt_limit=limit,
        write_files=tokenizer.save_pretrained,
    )


def _apply_template(tokenizer: Any, folder: Path, messages: list[dict[str, str]]) -> list[int]:  # noqa: ANN401
    from jinja2 import TemplateError

    try:
        return list(tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False))
    except TemplateError as error:
        raise ModelError(f"The chat template in {folder} refuses a prompt ({error}); check the roles.") from error


def _special(folder: Path, tokenizer: Any, config: Any, generation: Any) -> SpecialTokens:  # noqa: ANN401
    """The EOS set of generation config, config and tokenizer; a missing pad token is one of them."""
    ends = {*token_ids(getattr(generation, "eos_token_id", None)), *token_ids(getattr(config, "eos_token_id", None))}
    if tokenizer.eos_token_id is not None:
        ends.add(int(tokenizer.eos_token_id))
    if not ends:
        raise ModelError(f"No file in {folder} names an end-of-text token; add eos_token_id to config.json.")
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else min(ends)
    return SpecialTokens(pad_id=int(pad), bos_id=tokenizer.bos_token_id, eos_ids=frozenset(ends))


def _with_adapter(model: Any, path: Path, options: ModelOptions) -> Any:  # noqa: ANN401 - peft has no types
    peft = _peft()
    model.requires_grad_(False)
    config = peft.LoraConfig(
        r=options.lora_rank,
        lora_alpha=2 * options.lora_rank,
        lora_dropout=0.0,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
        warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers by names of an older version
        torch.manual_seed(options.seed)
        adapted = peft.get_peft_model(model, config)
    adapted.peft_config["default"].base_model_name_or_path = str(path.resolve())
    return adapted


def _load_adapter(folder: Path) -> Any:  # noqa: ANN401 - transformers has no types
    """The model that an adapter was made for, with the adapter merged into it."""
    base = Path(str(read_json(folder, ADAPTER).get("base_model_name_or_path", "")))
    if not base.exists():
        raise ModelError(f"The adapter in {folder} was made for the model {base}, which is not there; put it back.")
    if (base / ADAPTER).is_file():
        raise ModelError(f"The adapter in {folder} was made for another adapter; merge that one first.")
    model, _ = _load(base, ModelOptions())
    peft = _peft()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        adapted = _guarded(partial(peft.PeftModel.from_pretrained, model, folder, local_files_only=True), folder)
    return adapted.merge_and_unload()


def _peft() -> Any:  # noqa: ANN401 - peft has no types
    try:
        import peft
    except ModuleNotFoundError:
        raise MissingExtraError('LoRA needs peft; install it with: pip install "grpo-gui[hf]".') from None
    return peft


def _fast_path(model: Any, tokenizer: ChatTokenizer, source: Path) -> LanguagePolicy | None:  # noqa: ANN401
    """The built-in decoder with the model's weights, if it is of the Llama family and gives the same logits."""
    try:
        config = DecoderConfig.from_json(model.config.to_dict())
        decoder = build_decoder(config, model.state_dict(), source)
    except ModelError:
        return None
    ids = torch.tensor([[token % config.vocab_size for token in _PROBE]])
    with torch.no_grad():
        difference = (model(input_ids=ids).logits - decoder(ids)).abs().max()
    return LanguagePolicy(decoder, tokenizer) if float(difference) <= LOGITS_TOLERANCE else None
