"""The built-in language policy: decoder, tokenizer, generation, packed training. Names that need torch load lazily."""

from importlib import import_module
from typing import TYPE_CHECKING

from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.tokenizer import Tokenizer, build_builtin_tokenizer

if TYPE_CHECKING:
    from grpo_gui.language.decoder import Decoder
    from grpo_gui.language.loading import load_policy, save_model
    from grpo_gui.language.policy import LanguagePolicy, Policy
    from grpo_gui.language.sampling import Sampled, SamplingConfig

__all__ = [
    "Decoder",
    "DecoderConfig",
    "LanguagePolicy",
    "Policy",
    "Sampled",
    "SamplingConfig",
    "Tokenizer",
    "build_builtin_tokenizer",
    "load_policy",
    "save_model",
]

_MODULE_OF = {
    "Decoder": "decoder",
    "LanguagePolicy": "policy",
    "Policy": "policy",
    "Sampled": "sampling",
    "SamplingConfig": "sampling",
    "load_policy": "loading",
    "save_model": "loading",
}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
