"""Row 40: inference through convolution, batch norm, relu, max pooling and a dense layer, in float64."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.independent import drawn


def closed_form() -> dict[str, Any]:
    """The output, by numpy alone."""
    pictures: npt.NDArray[np.float64] = drawn.PICTURES.astype(float)
    windows = np.lib.stride_tricks.sliding_window_view(pictures, (1, 1, 3, 3))[..., 0, 0, :, :]
    maps = np.einsum("nchwij,ocij->nohw", windows, drawn.CONV_WEIGHT) + _per_map(drawn.CONV_BIAS)
    normal = (maps - _per_map(drawn.NORM_MEAN)) / np.sqrt(_per_map(drawn.NORM_VARIANCE) + 1e-5)
    positive = np.maximum(normal * _per_map(drawn.NORM_WEIGHT) + _per_map(drawn.NORM_BIAS), 0)
    pooled = positive.reshape(2, 4, 2, 2, 2, 2).max(axis=(3, 5))
    output = pooled.reshape(2, 16) @ drawn.DENSE_WEIGHT.T + drawn.DENSE_BIAS
    return {"output": output.tolist()}


def _per_map(values: Any) -> Any:
    return values.astype(float)[:, None, None]
