"""Arrays whose order is hard in different ways."""

import numpy as np

from explorer.model.arrays import AnyArray


def hard_to_sort(size: int) -> dict[str, AnyArray]:
    """Arrays of one size, by what is hard about them."""
    drawn = np.random.default_rng(size).normal(size=size)
    return {
        "drawn": drawn,
        "half zero": np.maximum(drawn, 0),
        "zeros of both signs": np.where(drawn > 0, 0.0, -0.0),
        "subnormal": drawn * 1e-42,
        "constant": np.full(size, 3.0),
        "few values": drawn.round(),
        "far apart": np.sign(drawn) * 10.0 ** (4 * drawn),
    }
