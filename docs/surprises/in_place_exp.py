"""A result that the backward needs is changed in place: Σ(eˣ + 1), whose derivative is eˣ."""

import mindspore as ms
import numpy as np
import torch
from mindspore import ops

X = np.array([0.0, 1.0, 2.0], np.float32)


def net(x):
    y = ops.exp(x)
    y.add_(1.0)
    return y.sum()


def plain(x):
    y = ops.exp(x)
    y = y + 1.0
    return y.sum()


def torch_net(x):
    y = torch.exp(x)
    y.add_(1.0)
    return y.sum()


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        value, gradient = ms.value_and_grad(net)(ms.Tensor(X))
        print(f"MindSpore, {style}, value:", value.asnumpy().round(4))
        print(f"MindSpore, {style}, gradient:", gradient.asnumpy().round(4))
        value, gradient = ms.value_and_grad(plain)(ms.Tensor(X))
        print(f"MindSpore, {style}, y = y + 1, value:", value.asnumpy().round(4))
        print(f"MindSpore, {style}, y = y + 1, gradient:", gradient.asnumpy().round(4))
    try:
        print("PyTorch:", torch.func.grad(torch_net)(torch.tensor(X)))
    except RuntimeError as error:
        print("PyTorch: RuntimeError:", str(error).partition(":")[0])


if __name__ == "__main__":
    main()
