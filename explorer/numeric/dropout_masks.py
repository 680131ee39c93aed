"""The masks of dropout layers that are to drop the same elements in every engine."""

import numpy as np

from explorer.model.arrays import AnyArray


def dropout_mask(shape: tuple[int, ...], rate: float) -> AnyArray:
    """The factor of each element of a tensor of ``shape``: 0, or 1 / (1 - rate).

    The draws depend on the shape alone: layers of other rates drop others of the same elements, and
    nets that call them in another order, or one of them twice, draw alike. float32.
    """
    draws = np.random.default_rng(shape).uniform(size=shape)
    if rate >= 1:
        return np.zeros(shape, np.float32)
    kept: AnyArray = (draws >= rate) / (1 - rate)
    return kept.astype(np.float32)


def channel_mask(shape: tuple[int, ...], rate: float, spatial: int) -> AnyArray:
    """The factor of each channel of a tensor of ``shape``, whose last ``spatial`` axes have it alike.

    That is the mask of a tensor with axes of length 1 in their place.
    """
    channels = shape[: len(shape) - spatial] + (1,) * spatial
    return dropout_mask(channels, rate)
