"""What `add_` leaves in a tensor on the CPU, and what optimizers that are made of it leave in a weight."""

import mindspore as ms
import numpy as np
import torch
from mindspore import mint, nn, ops

X = np.array([1.0, 2.0], np.float32)
GRADIENT = np.ones(2, np.float32)
METHODS = {"add_": 1.0, "sub_": 1.0, "mul_": 2.0, "div_": 2.0}


def net(x):
    y = ops.exp(x)
    y.mul_(2.0)
    return y.sum()


def rebound(x):
    y = ops.exp(x)
    y = y * 2.0
    return y.sum()


class Add(nn.Cell):
    def construct(self, x):
        y = x + 0.0
        y.add_(1.0)
        return y


def after_a_step(optimizer):
    weight = ms.Parameter(ms.Tensor(X), name="weight")
    optimizer([weight], lr=0.5)((ms.Tensor(GRADIENT),))
    return weight.asnumpy()


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    for name, number in METHODS.items():
        x = ms.Tensor(X)
        returned = getattr(x, name)(number)
        print(f"MindSpore, tape, {name}({number:g}) returns:", returned)
        print(f"MindSpore, tape, x after {name}({number:g}):", x)
    x = ms.Tensor(X)
    value, gradient = ms.value_and_grad(net)(x)
    print("MindSpore, tape, the sum of exp(x).mul_(2):", value.asnumpy().round(4))
    print("MindSpore, tape, its gradient:", gradient.asnumpy().round(4))
    print("MindSpore, tape, y = y * 2:", ms.grad(rebound)(x).asnumpy().round(4))
    print("MindSpore, tape, mint.optim.SGD:", after_a_step(mint.optim.SGD))
    print("MindSpore, tape, mint.optim.Adam:", after_a_step(mint.optim.Adam))
    print("MindSpore, tape, experimental.optim.SGD:", after_a_step(ms.experimental.optim.SGD))
    ms.set_context(mode=ms.GRAPH_MODE)
    print("MindSpore, graph, y after add_(1):", Add()(ms.Tensor(X)))
    print("MindSpore, graph, mint.optim.SGD:", after_a_step(mint.optim.SGD))
    for name, number in METHODS.items():
        y = torch.tensor(X)
        getattr(y, name)(number)
        print(f"PyTorch, x after {name}({number:g}):", y.numpy())


if __name__ == "__main__":
    main()
