"""Training programs whose gradients MindSpore compiles, for `explorer run` and without it.

`python recorded_graph_steps.py [OUT]` prints losses and weights of each program as JSON; with OUT one step
is recorded by explorer.record() into that file.
"""

import json
import sys

import mindspore as ms
import numpy as np
from mindspore import nn

STEPS = {"value_and_grad": 9, "one_step_cell": 10, "whole_step": 10}
"""How many steps each program takes: so the 1st, 10th and 20th of all are the first ones of each."""

draws = np.random.RandomState(0)
WEIGHTS = [
    draws.randn(*shape).astype(np.float32) for shape in ((8, 4), (8,), (8,), (8,), (3, 8), (3,))
]
X = ms.Tensor(draws.randn(5, 4).astype(np.float32))
TARGET = ms.Tensor(draws.randint(0, 3, (5,)).astype(np.int32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(4, 8)
        self.act = nn.GELU(approximate=False)
        self.norm = nn.LayerNorm((8,), epsilon=1e-5)
        self.last = nn.Dense(8, 3)
        for parameter, values in zip(self.get_parameters(), WEIGHTS, strict=True):
            parameter.set_data(ms.Tensor(values))

    def construct(self, x):
        return self.last(self.norm(self.act(self.first(x))))


def program(name):
    """A net, and what takes a step with it."""
    net, loss_function = Net(), nn.CrossEntropyLoss()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    ms.set_context(mode=ms.PYNATIVE_MODE if name == "whole_step" else ms.GRAPH_MODE)

    def forward(x, target):
        return loss_function(net(x), target)

    gradient = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(x, target):
        loss, gradients = gradient(x, target)
        optimizer(gradients)
        return loss

    if name == "one_step_cell":
        return net, nn.TrainOneStepCell(nn.WithLossCell(net, loss_function), optimizer)
    return net, ms.jit(step) if name == "whole_step" else step


def computed(name):
    """The losses and weights of a program, in hexadecimal."""
    net, step = program(name)
    losses = [float(step(X, TARGET)).hex() for _ in range(STEPS[name])]
    return losses, [parameter.asnumpy().tobytes().hex() for parameter in net.get_parameters()]


def record(path):
    """Record a step without `explorer run`."""
    import explorer

    _net, step = program("value_and_grad")
    with explorer.record(path):
        step(X, TARGET)


if __name__ == "__main__":
    results = {name: computed(name) for name in STEPS}
    if len(sys.argv) > 1:
        record(sys.argv[1])
    print(json.dumps(results))
