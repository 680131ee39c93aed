"""The masks of dropout layers that are to drop the same elements in every engine."""

import numpy as np

from explorer.model.arrays import AnyArray


def dropout_mask(call: int, shape: tuple[int, ...], rate: float) -> AnyArray:
    """The factor of each element at the dropout called as number ``call``: 0, or 1 / (1 - rate).

    The draws depend on the call and the shape alone, so that two layers of other rates drop others
    of the same elements. float32, of ``shape``.
    """
    draws = np.random.default_rng(call).uniform(size=shape)
    kept: AnyArray = (draws >= rate) / (1 - rate)
    return kept.astype(np.float32)
