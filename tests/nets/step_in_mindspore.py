"""The first step of the training of step_in_torch.py in MindSpore, as it is there and with mistakes.

`python step_in_mindspore.py OUT WEIGHTS` writes the traces into OUT; WEIGHTS is an .npz file.
"""

import sys
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn, ops

import explorer

NAMES = {"gamma": "weight", "beta": "bias"}


class Net(nn.Cell):
    def __init__(self, approximate, epsilon):
        super().__init__()
        self.first = nn.Dense(6, 16)
        self.norm = nn.LayerNorm((16,), epsilon=epsilon)
        self.middle = nn.Dense(16, 16)
        self.last = nn.Dense(16, 3)
        self.approximate = approximate

    def construct(self, x):
        hidden = ops.gelu(self.first(x), approximate=self.approximate)
        hidden = hidden + ops.tanh(self.middle(self.norm(hidden)))
        return self.last(hidden)


def value_and_grad(net, optimizer, x, y):
    loss_function = nn.CrossEntropyLoss()

    def forward(x, y):
        return loss_function(net(x), y)

    _, gradients = ms.value_and_grad(forward, None, optimizer.parameters)(x, y)
    optimizer(gradients)


def one_step_cell(net, optimizer, x, y):
    nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)(x, y)


STEPS = {
    "value_and_grad": (value_and_grad, "none", 1e-5, 1e-2),
    "one_step_cell": (one_step_cell, "none", 1e-5, 1e-2),
    "tanh_gelu": (value_and_grad, "tanh", 1e-5, 1e-2),
    "large_epsilon": (value_and_grad, "none", 1e-3, 1e-2),
    "large_rate": (value_and_grad, "none", 1e-5, 1.1e-2),
}
"""The way to train, two settings of the net, and the learning rate."""


def main(out, given):
    for name, (step, approximate, epsilon, rate) in STEPS.items():
        net = Net(approximate, epsilon)
        net.set_train()
        for path, parameter in net.parameters_and_names():
            layer, _, last = path.rpartition(".")
            parameter.set_data(ms.Tensor(given[f"{layer}.{NAMES.get(last, last)}"]))
        optimizer = nn.Adam(net.trainable_params(), rate)
        x, y = ms.Tensor(given["x"]), ms.Tensor(given["y"].astype(np.int32))
        with explorer.record(out / f"{name}.trace", step=1):
            step(net, optimizer, x, y)


if __name__ == "__main__":
    main(Path(sys.argv[1]), np.load(sys.argv[2]))
