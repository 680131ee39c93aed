"""The second derivative of w₀³·w₁, where an element is taken by an integer inside nested gradients."""

import mindspore as ms
import numpy as np
import torch
from mindspore.common.api import _pynative_executor

W = np.array([1.0, 2.0], np.float32)


def by_integer(w):
    return w[0] ** 3 * w[1]


def by_slice(w):
    return (w[0:1] ** 3 * w[1:2]).sum()


def by_ellipsis(w):
    return w[..., 0] ** 3 * w[..., 1]


FUNCTIONS = {"w[0]": by_integer, "w[0:1]": by_slice, "w[..., 0]": by_ellipsis}


def summed_slope(function):
    def slope(w):
        return ms.grad(function)(w).sum()

    return slope


def torch_slope(w):
    return torch.func.grad(by_integer)(w).sum()


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        for name, function in FUNCTIONS.items():
            label = f"MindSpore, {style}, {name}:"
            try:
                print(label, ms.grad(summed_slope(function))(ms.Tensor(W)))
            except TypeError as error:
                print(label, "TypeError:", " ".join(str(error).split()).partition("(")[0])
                # After an error the tape is still on, and the next gradient would fail too.
                _pynative_executor.clear_res()
    print("PyTorch, w[0]:", torch.func.grad(torch_slope)(torch.tensor(W)).numpy())


if __name__ == "__main__":
    main()
