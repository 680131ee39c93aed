"""The inputs of the claims on operators, drawn in their order from the legacy generator with seed 0."""

from typing import Any

import numpy as np

_RANDOM = np.random.RandomState(0)


def _normal(*shape: int) -> Any:
    return _RANDOM.standard_normal(shape).astype(np.float32)


BATCH = _normal(4, 2, 2, 2)
COTANGENT = _normal(4, 2, 2, 2)
PICTURES = _normal(2, 2, 6, 6)
CONV_WEIGHT, CONV_BIAS = _normal(4, 2, 3, 3), _normal(4)
NORM_WEIGHT, NORM_BIAS = _normal(4), _normal(4)
NORM_MEAN, NORM_VARIANCE = _normal(4), np.abs(_normal(4)) + 0.5
DENSE_WEIGHT, DENSE_BIAS = _normal(3, 16), _normal(3)
SAME_WEIGHT, SAME_BIAS = _normal(3, 2, 2, 2), _normal(3)
VALID_WEIGHT, VALID_BIAS = _normal(3, 2, 3, 3), _normal(3)
ROWS, ROWS_WEIGHT, ROWS_BIAS = _normal(3, 4), _normal(2, 4), _normal(2)
LAYER, LAYER_WEIGHT, LAYER_BIAS = _normal(3, 4), _normal(4), _normal(4)

SCALE = np.array([1.5, 0.5])
SHIFT = np.array([0.25, -0.25])
OLD_MEAN = np.array([0.5, -1.0])
OLD_VARIANCE = np.array([2.0, 0.25])
"""Batch norm's settings: scale and shift, and the running statistics at the start."""
