"""A parameter that the forward does not use, one step of SGD with weight decay: rate 0.1, decay 0.1."""

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


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        net = Net()
        optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1, weight_decay=0.1)
        gradients = ms.grad(net, None, optimizer.parameters)(ms.Tensor(ONE))
        optimizer(gradients)
        print(f"MindSpore, {style}, gradient of idle:", gradients[1])
        print(f"MindSpore, {style}, idle after a step:", net.idle.asnumpy())
    used, idle = (torch.nn.Parameter(torch.tensor(ONE)) for _ in range(2))
    optimizer = torch.optim.SGD([used, idle], lr=0.1, weight_decay=0.1)
    (used * torch.tensor(ONE)).sum().backward()
    optimizer.step()
    print("PyTorch, gradient of idle:", idle.grad)
    print("PyTorch, idle after a step:", idle.detach().numpy())


if __name__ == "__main__":
    main()
