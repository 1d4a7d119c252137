"""The shape of a Llama decoder, read from and written to Hugging Face's config.json."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grpo_gui.errors import ModelError

_SUPPORTED_TYPES = ("llama", "mistral")  # Mistral without a sliding window is a Llama under another name


@dataclass(frozen=True, slots=True)
class RopeScaling:
    """Llama 3's stretching of the rotary frequencies to longer contexts (`rope_type` "llama3")."""

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_max_position_embeddings: int


@dataclass(frozen=True, slots=True)
class DecoderConfig:
    """A Llama decoder's shape; the defaults are the built-in model's.

    Fields carry the names of Hugging Face's LlamaConfig, except that the EOS ids are always a tuple.
    """

    vocab_size: int = 100
    hidden_size: int = 128
    intermediate_size: int = 352
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    num_key_value_heads: int = 4
    head_dim: int = 32
    max_position_embeddings: int = 512
    rms_norm_eps: float = 1e-5
    rope_theta: float = 10000.0
    rope_scaling: RopeScaling | None = None
    tie_word_embeddings: bool = True
    bos_token_id: int | None = 1
    eos_token_ids: tuple[int, ...] = (2,)
    pad_token_id: int | None = 0

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "DecoderConfig":
        """Read the contents of a config.json of the Llama family.

        Raises:
            ModelError: another architecture, a part this decoder lacks, or a missing or misshapen field.
        """
        _refuse_unsupported(values)
        try:
            return _from_json(values)
        except KeyError as error:
            raise ModelError(
                f"config.json lacks the field {error.args[0]!r}; export the model again with save_pretrained."
            ) from error
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"config.json holds a value of the wrong type ({error}); compare it with the source."
            ) from error

    def to_json(self) -> dict[str, Any]:
        """The contents of a config.json that transformers loads as LlamaForCausalLM."""
        eos = self.eos_token_ids
        values: dict[str, Any] = {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "hidden_act": "silu",
            "attention_bias": False,
            "mlp_bias": False,
            "vocab_size": self.vocab_size,
            "hidden_size": self.hidden_size,
            "intermediate_size": self.intermediate_size,
            "num_hidden_layers": self.num_hidden_layers,
            "num_attention_heads": self.num_attention_heads,
            "num_key_value_heads": self.num_key_value_heads,
            "head_dim": self.head_dim,
            "max_position_embeddings": self.max_position_embeddings,
            "rms_norm_eps": self.rms_norm_eps,
            "tie_word_embeddings": self.tie_word_embeddings,
            "bos_token_id": self.bos_token_id,
            "eos_token_id": eos[0] if len(eos) == 1 else list(eos),
            "pad_token_id": self.pad_token_id,
            "rope_theta": self.rope_theta,  # transformers 4 reads this pair, transformers 5 the next
            "rope_scaling": None,
            "rope_parameters": {"rope_type": "default", "rope_theta": self.rope_theta},
        }
        if self.rope_scaling is not None:
            scaling = self.rope_scaling
            stretched = {
                "rope_type": "llama3",
                "factor": scaling.factor,
                "low_freq_factor": scaling.low_freq_factor,
                "high_freq_factor": scaling.high_freq_factor,
                "original_max_position_embeddings": scaling.original_max_position_embeddings,
            }
            values["rope_scaling"] = stretched
            values["rope_parameters"] = {**stretched, "rope_theta": self.rope_theta}
        return values


def token_ids(value: object) -> tuple[int, ...]:
    """The ids of an `eos_token_id` field: nothing, one id or a list of them."""
    if value is None:
        return ()
    if isinstance(value, int):
        return (value,)
    if isinstance(value, list) and all(isinstance(item, int) for item in value):
        return tuple(value)
    raise ModelError(
        f"eos_token_id is {value!r}, but an id or a list of ids is needed; correct it in the model's folder."
    )


def _from_json(values: Mapping[str, Any]) -> DecoderConfig:
    heads = int(values["num_attention_heads"])
    hidden = int(values["hidden_size"])
    theta, scaling = _rope(values)
    config = DecoderConfig(
        vocab_size=int(values["vocab_size"]),
        hidden_size=hidden,
        intermediate_size=int(values["intermediate_size"]),
        num_hidden_layers=int(values["num_hidden_layers"]),
        num_attention_heads=heads,
        num_key_value_heads=int(values.get("num_key_value_heads") or heads),
        head_dim=int(values.get("head_dim") or hidden // heads),
        max_position_embeddings=int(values.get("max_position_embeddings", 2048)),
        rms_norm_eps=float(values.get("rms_norm_eps", 1e-6)),
        rope_theta=theta,
        rope_scaling=scaling,
        tie_word_embeddings=bool(values.get("tie_word_embeddings", False)),
        bos_token_id=values.get("bos_token_id"),
        eos_token_ids=token_ids(values.get("eos_token_id")),
        pad_token_id=values.get("pad_token_id"),
    )
    if config.num_attention_heads % config.num_key_value_heads:
        raise ModelError(
            f"config.json has {config.num_attention_heads} attention heads, which cannot share "
            f"{config.num_key_value_heads} key-value heads evenly; the file is damaged or of another architecture."
        )
    return config


def _refuse_unsupported(values: Mapping[str, Any]) -> None:
    model_type = values.get("model_type")
    if model_type not in _SUPPORTED_TYPES:
        raise ModelError(
            f"config.json describes a model of type {model_type!r}; the built-in decoder loads the Llama family "
            f"({', '.join(_SUPPORTED_TYPES)}). Choose such a checkpoint."
        )
    for field in ("attention_bias", "mlp_bias"):
        if values.get(field):
            raise ModelError(
                f"The model uses {field}, which the built-in decoder lacks; choose a checkpoint without biases."
            )
    if values.get("hidden_act", "silu") != "silu":
        raise ModelError(f"The model uses the activation {values['hidden_act']!r}; the built-in decoder only has silu.")
    window = values.get("sliding_window")
    if window is not None and window < values.get("max_position_embeddings", 0):
        raise ModelError(
            "The model uses a sliding attention window, which the built-in decoder lacks; choose one without."
        )


def _rope(values: Mapping[str, Any]) -> tuple[float, RopeScaling | None]:
    """Rotary base and scaling, from transformers 5's `rope_parameters` or the two older fields."""
    parameters: Mapping[str, Any] = values.get("rope_parameters") or values.get("rope_scaling") or {}
    theta = float(parameters.get("rope_theta") or values.get("rope_theta") or 10000.0)
    kind = parameters.get("rope_type", parameters.get("type", "default"))
    if kind == "default":
        return theta, None
    if kind != "llama3":
        raise ModelError(
            f"The model stretches its rotary positions by {kind!r}; the built-in decoder knows default and llama3. "
            "Choose a checkpoint with one of these."
        )
    return theta, RopeScaling(
        factor=float(parameters["factor"]),
        low_freq_factor=float(parameters["low_freq_factor"]),
        high_freq_factor=float(parameters["high_freq_factor"]),
        original_max_position_embeddings=int(parameters["original_max_position_embeddings"]),
    )
