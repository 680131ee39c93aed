"""Row 46: the same windows where a row of zeros is put on top and a column of them to the left."""

from typing import Any

import numpy as np

from tests.independent.attempts import attempt


def closed_form() -> dict[str, Any]:
    """The greatest of each window."""
    padded = np.zeros((4, 4))
    padded[1:, 1:] = np.arange(9).reshape(3, 3)
    return {"padded": padded.reshape(2, 2, 2, 2).max(axis=(1, 3)).tolist()}


def in_mindspore() -> dict[str, Any]:
    """What becomes of the name that is printed."""
    from mindspore import ops

    return {"printed": attempt(lambda: ops.MaxPool(2, 2, pad_mode="vaild"))}
