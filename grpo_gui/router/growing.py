"""Arrays with room for classes and models that come later."""

import numpy as np

from grpo_gui.grpo.advantages import Float64Array


def grown(values: Float64Array, shape: tuple[int, ...]) -> Float64Array:
    """The array with at least this shape, new entries 0; axes grow to at least twice their size."""
    if all(have >= want for have, want in zip(values.shape, shape, strict=True)):
        return values
    sizes = [have if have >= want else max(want, 2 * have) for have, want in zip(values.shape, shape, strict=True)]
    larger = np.zeros(sizes)
    larger[tuple(slice(have) for have in values.shape)] = values
    return larger
