"""The batches of the programs in ``programs/``, made from a seed: a file of arrays for all of them."""

from pathlib import Path

import numpy as np

from explorer.model.arrays import AnyArray

STEPS = 6

BAD = 3
"""The step in which a batch of the accumulation is not finite."""


def write(path: Path) -> None:
    """Write what the programs read: of each array a slice a step."""
    draws = np.random.default_rng(38)

    def normal(*shape: int) -> AnyArray:
        return draws.normal(size=(STEPS, *shape)).astype(np.float32)

    def whole(below: int, *shape: int) -> AnyArray:
        return draws.integers(0, below, (STEPS, *shape)).astype(np.int32)

    batches = {
        "noise": normal(6, 3),
        "points": normal(6, 5),
        "observations": normal(12, 4),
        "actions": whole(3, 12),
        "old_log_probs": -1.1 + 0.4 * normal(12),
        "advantages": 0.5 + 2 * normal(12),
        "returns": normal(12),
        "series": normal(4, 5, 3),
        "next_values": normal(4, 5, 1),
        "features": normal(9, 6),
        "targets": normal(9, 3),
        "labels": whole(3, 9),
        "tokens": whole(11, 4, 8),
        "images": normal(8, 2, 6, 6),
        "classes": whole(4, 8),
    }
    overflowing = batches["features"].copy()
    overflowing[BAD - 1, 0, 0] = np.inf
    np.savez(path, allow_pickle=False, overflowing=overflowing, **batches)
