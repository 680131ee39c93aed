"""A slice is written to: does what it was cut from change? Here v is the end of h, and v[0] is set to 9."""

import mindspore as ms
import numpy as np
import torch

X = np.array([1.0, 2.0, 3.0], np.float32)


def squares(x):
    h = x * 1.0
    v = h[1:]
    v[0] = 9.0
    return (h * h).sum()


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        value, gradient = ms.value_and_grad(squares)(ms.Tensor(X))
        print(f"MindSpore, {style}:", value, gradient)
    gradient, value = torch.func.grad_and_value(squares)(torch.tensor(X))
    print("PyTorch:", value.numpy(), gradient.numpy())


if __name__ == "__main__":
    main()
