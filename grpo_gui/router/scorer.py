"""A trained network as it decides: numpy only, so that the window can use it without torch."""

import json
from collections.abc import Sequence

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from grpo_gui.errors import BadInputError
from grpo_gui.grpo.advantages import Float64Array
from grpo_gui.router.features import FeatureSource, Float32Array, feature_source

_MAGIC = "grpo-gui router network 1"


class NetworkScorer:
    """Adds a trained network's logits to the table's weights.

    `layers` are pairs of weight (out, in) and bias (out,), with ReLU between them; `gate` (0 to 1) is how far the
    network had left the table when it was saved.
    """

    def __init__(
        self, features: str, models: Sequence[str], gate: float, layers: Sequence[tuple[Float32Array, Float32Array]]
    ) -> None:
        self.features = features
        self.models = list(models)
        self.gate = gate
        self.layers = list(layers)
        self._source: FeatureSource | None = None  # loaded when first used: an embedding model takes seconds

    def offsets(self, query: str, models: tuple[str, ...]) -> Float64Array:
        """What to add to the table's weights for a query, one number a model; 0 for a model it does not know."""
        if self._source is None:
            self._source = feature_source(self.features)
        row: Float64Array = self.offsets_of(self._source((query,)), models)[0]
        return row

    def offsets_of(self, features: Float32Array, models: tuple[str, ...]) -> Float64Array:
        """The same (queries, models) for features that are at hand."""
        values = features
        for number, (weight, bias) in enumerate(self.layers):
            values = values @ weight.T + bias
            if number < len(self.layers) - 1:
                values = np.maximum(values, 0)
        places = {model: index for index, model in enumerate(self.models)}
        result = np.zeros((len(features), len(models)))
        for column, model in enumerate(models):
            if model in places:
                result[:, column] = self.gate * values[:, places[model]]
        return result

    def rename(self, old: str, new: str) -> None:
        """A model goes on under another name."""
        self.models = [new if model == old else model for model in self.models]

    def to_bytes(self) -> bytes:
        """A safetensors file: the layers, and in its metadata what else is needed, as JSON."""
        tensors = {}
        for number, (weight, bias) in enumerate(self.layers):
            tensors[f"layers.{number}.weight"] = np.ascontiguousarray(weight)
            tensors[f"layers.{number}.bias"] = np.ascontiguousarray(bias)
        about = {"format": _MAGIC, "features": self.features, "models": self.models, "gate": self.gate}
        return save(tensors, metadata={"about": json.dumps(about)})


def load_scorer(data: bytes) -> NetworkScorer:
    """The inverse of `NetworkScorer.to_bytes`.

    Raises:
        BadInputError: it is not a network of the router.
    """
    try:
        tensors = load(data)
        length = int.from_bytes(data[:8], "little")
        about = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["about"])
        if about["format"] != _MAGIC:
            raise ValueError(f"its format is {about['format']!r}")
        layers = [
            (tensors[f"layers.{number}.weight"], tensors[f"layers.{number}.bias"])
            for number in range(len(tensors) // 2)
        ]
        return NetworkScorer(about["features"], about["models"], float(about["gate"]), layers)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise BadInputError(f"This is not a network of the router: {error}.") from error
