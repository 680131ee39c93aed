"""A parameter that the forward does not use, under SGD: rate 0.1; weight decay 0.1, or momentum 0.9."""

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

ONE = np.ones(1, np.float32)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.used = ms.Parameter(ms.Tensor(ONE), name="used")
        self.idle = ms.Parameter(ms.Tensor(ONE), name="idle")

    def construct(self, x):
        return (self.used * x).sum()


class Both(Net):
    def construct(self, x):
        return ((self.used + self.idle) * x).sum()


def idle_after_momentum():
    """The parameter is used in one step and not in the next."""
    net = Both()
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1, momentum=0.9)
    optimizer(ms.grad(net, None, optimizer.parameters)(ms.Tensor(ONE)))
    after_one = net.idle.asnumpy().copy()
    optimizer((ms.Tensor(ONE), ms.Tensor(np.zeros(1, np.float32))))
    return after_one, net.idle.asnumpy()


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        net = Net()
        optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1, weight_decay=0.1)
        gradients = ms.grad(net, None, optimizer.parameters)(ms.Tensor(ONE))
        optimizer(gradients)
        print(f"MindSpore, {style}, gradient of idle:", gradients[1])
        print(f"MindSpore, {style}, idle after a step:", net.idle.asnumpy())
        after_one, after_two = idle_after_momentum()
        print(f"MindSpore, {style}, momentum, used once:", after_one)
        print(f"MindSpore, {style}, momentum, not used then:", after_two)
    used, idle = (torch.nn.Parameter(torch.tensor(ONE)) for _ in range(2))
    optimizer = torch.optim.SGD([used, idle], lr=0.1, weight_decay=0.1)
    (used * torch.tensor(ONE)).sum().backward()
    optimizer.step()
    print("PyTorch, gradient of idle:", idle.grad)
    print("PyTorch, idle after a step:", idle.detach().numpy())


if __name__ == "__main__":
    main()
