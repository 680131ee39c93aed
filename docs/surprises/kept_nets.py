"""How many of five nets are still there once each was differentiated and nothing refers to it."""

import gc
import weakref

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

NETS = 5


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 1)

    def construct(self, x):
        return self.fc(x).sum()


class GradientNet(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.options = ()

    def construct(self, *inputs):
        return ms.grad(self.net)(*inputs)


class UnpacksTwo(GradientNet):
    def construct(self, *inputs):
        return ms.grad(self.net)(*inputs, *self.options)


class UnpacksSum(GradientNet):
    def construct(self, *inputs):
        return ms.grad(self.net)(*(inputs + self.options))


def left(differentiate, make=Net):
    nets = []
    for _ in range(NETS):
        net = make()
        differentiate(net)
        nets.append(weakref.ref(net))
        del net
    gc.collect()
    return f"{sum(net() is not None for net in nets)} of {NETS} nets are left"


def main():
    x = ms.Tensor(np.ones((1, 3), np.float32))
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        print(f"MindSpore, {style}, ms.grad(net)(x):", left(lambda net: ms.grad(net)(x)))
    print("MindSpore, graph, in a Cell, (*inputs):", left(lambda net: GradientNet(net)(x)))
    two = "MindSpore, graph, in a Cell, (*inputs, *options):"
    print(two, left(lambda net: UnpacksTwo(net)(x)))
    added = "MindSpore, graph, in a Cell, (*(inputs + options)):"
    print(added, left(lambda net: UnpacksSum(net)(x)))

    def train_step(net):
        optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
        nn.TrainOneStepCell(net, optimizer)(x)

    print("MindSpore, graph, TrainOneStepCell:", left(train_step))

    def backward(net):
        net(torch.ones(1, 3)).sum().backward()

    print("PyTorch, backward:", left(backward, lambda: torch.nn.Linear(3, 1)))


if __name__ == "__main__":
    main()
