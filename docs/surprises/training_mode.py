"""A gradient function is made in evaluation mode and called again in training mode: Σ of batch norm cubed."""

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

X = np.array([[1.0], [2.0], [6.0]], np.float32)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(1)

    def construct(self, x):
        return (self.norm(x) ** 3).sum()


def main():
    x = ms.Tensor(X)
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        net = Net().set_train(False)
        gradient = ms.grad(net)
        print(f"MindSpore, {style}, evaluation:", gradient(x).asnumpy().ravel().round(4))
        net.set_train(True)
        print(f"MindSpore, {style}, training:", gradient(x).asnumpy().ravel().round(4))
        again = ms.grad(net)(x).asnumpy()
        print(f"MindSpore, {style}, training, ms.grad again:", again.ravel().round(4))

    norm = torch.nn.BatchNorm1d(1)
    for name, training in (("evaluation", False), ("training", True)):
        leaf = torch.tensor(X, requires_grad=True)
        (norm.train(training)(leaf) ** 3).sum().backward()
        print(f"PyTorch, {name}:", leaf.grad.numpy().ravel().round(4))


if __name__ == "__main__":
    main()
