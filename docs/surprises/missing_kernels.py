"""Operators of MindSpore 2.10 that have no kernel on the CPU: each is tried, and says what it says."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.common.api import _pynative_executor

ROWS = ms.Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
FIRST = ms.Tensor(np.zeros((2, 3), np.int32))

CALLS: dict[str, Callable[[], Any]] = {
    "ops.einsum": lambda: ops.einsum("ij,kj->ik", ROWS, ROWS),
    "ops.roll": lambda: ops.roll(ROWS, 1),
    "Tensor.scatter_add(dim, index, src)": lambda: ROWS.scatter_add(0, FIRST, ROWS),
    "nn.TripletMarginLoss": lambda: nn.TripletMarginLoss()(ROWS, ROWS, ROWS),
}

INSTEAD: dict[str, Callable[[], Any]] = {
    "ops.einsum": lambda: ops.matmul(ROWS, ROWS.T),
    "ops.roll": lambda: ops.cat((ROWS.ravel()[-1:], ROWS.ravel()[:-1])).reshape(2, 3),
    "Tensor.scatter_add(dim, index, src)": lambda: ops.tensor_scatter_elements(
        ROWS, FIRST, ROWS, 0, "add"
    ),
    "nn.TripletMarginLoss": lambda: ops.relu(ROWS.sum(1) * 0 + 1.0).mean(),
}
"""The same results by operators that have kernels; the two distances of the triplets are equal here."""


def main() -> None:
    """Print a line for each operator."""
    # Operators execute asynchronously by default: an error would be raised by a later one.
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=True)
    for name, call in CALLS.items():
        try:
            call().asnumpy()
        except (RuntimeError, TypeError, ValueError) as error:
            words = " ".join(str(error).replace("-", " ").split())
            message = words.partition(" C++")[0].partition(", Please")[0]
            print(f"{name}: {type(error).__name__}: {message}")
            _pynative_executor.clear_res()  # else the next operator may raise this error again
        else:
            print(f"{name}: runs")
    for name, call in INSTEAD.items():
        print(f"{name}, instead: {call().asnumpy().ravel()}")


if __name__ == "__main__":
    main()
