"""Softmax of a row that is masked out: all its numbers are −inf."""

import mindspore as ms
import numpy as np
import torch
from mindspore import ops

MASKED = np.full((1, 3), -np.inf)


def last(x):
    return ops.softmax(x, -1)


def first(x):
    return ops.softmax(x, 0)


def guarded(x):
    # A row of equal finite numbers stays finite: its softmax is 1 / 3 each.
    return ops.softmax(ops.clamp(x, -1e30), -1)


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        row = ms.Tensor(MASKED, ms.float32)
        for name, function, x in (
            ("float32, last axis", last, row),
            ("float32, first axis", first, row.reshape(3, 1)),
            ("float64, last axis", last, ms.Tensor(MASKED, ms.float64)),
            ("float32, at least -1e30", guarded, row),
        ):
            value, gradient = ms.value_and_grad(function)(x)
            numbers = value.asnumpy().ravel().round(4)
            print(f"MindSpore, {style}, {name}:", numbers, gradient.asnumpy().ravel())
    for dtype in (torch.float32, torch.float64):
        x = torch.tensor(MASKED, dtype=dtype)
        print(f"PyTorch, {dtype}, last axis:", torch.softmax(x, -1).numpy().ravel())


if __name__ == "__main__":
    main()
