"""Arrays with room for classes and models that come later."""

import numpy as np

from grpo_gui.grpo.advantages import Float64Array


def shaped(values: object, shape: tuple[int, ...]) -> Float64Array:
    """Nested lists as an array of this shape, all finite.

    Raises:
        ValueError: they are not.
    """
    array = np.array(values, dtype=np.float64).reshape(shape) if 0 in shape else np.array(values, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"finite numbers of shape {shape} are expected, not {array.shape}")
    return array


def grown(values: Float64Array, shape: tuple[int, ...]) -> Float64Array:
    """The array with at least this shape, new entries 0; axes grow to at least twice their size."""
    if all(have >= want for have, want in zip(values.shape, shape, strict=True)):
        return values
    sizes = [have if have >= want else max(want, 2 * have) for have, want in zip(values.shape, shape, strict=True)]
    larger = np.zeros(sizes)
    larger[tuple(slice(have) for have in values.shape)] = values
    return larger
