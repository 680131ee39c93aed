"""Two Runge–Kutta steps through a learned vector field.

Modelled on Chen et al., "Neural ordinary differential equations" (2018), discretised first and
differentiated then: a small net gives the velocity, the classical method of fourth order takes two
steps, and the loss compares where it arrives.

Watch the net, which is used eight times: each weight's gradient is a sum of eight. The weights of the
four slopes are 1, 2, 2, 1 over 6, and the middle ones look half a step ahead; swapped or halved
numbers still integrate, to lower order.
"""

import numpy as np

OUTPUTS = ("loss", "arrival")
CONSTANTS = ("target",)


def inputs():
    random = np.random.default_rng(31)
    return {
        "start": random.normal(size=(3, 2)).astype(np.float32),
        "target": random.normal(size=(3, 2)).astype(np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Velocity(nn.Cell):
        def __init__(self, hidden=6):
            super().__init__()
            self.fc1 = nn.Dense(2, hidden)
            self.fc2 = nn.Dense(hidden, 2)

        def construct(self, y):
            return self.fc2(ops.tanh(self.fc1(y)))

    class NeuralODE(nn.Cell):
        def __init__(self, steps=2):
            super().__init__()
            self.velocity = Velocity()
            self.steps = steps
            self.loss = nn.MSELoss()

        def step(self, y, h):
            k1 = self.velocity(y)
            k2 = self.velocity(y + h / 2 * k1)
            k3 = self.velocity(y + h / 2 * k2)
            k4 = self.velocity(y + h * k3)
            return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

        def construct(self, start, target):
            y = start
            for _ in range(self.steps):
                y = self.step(y, 1.0 / self.steps)
            return self.loss(y, target), y

    return NeuralODE()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Velocity(nn.Module):
        def __init__(self, hidden=6):
            super().__init__()
            self.fc1 = nn.Linear(2, hidden)
            self.fc2 = nn.Linear(hidden, 2)

        def forward(self, y):
            return self.fc2(torch.tanh(self.fc1(y)))

    class NeuralODE(nn.Module):
        def __init__(self, steps=2):
            super().__init__()
            self.velocity = Velocity()
            self.steps = steps

        def step(self, y, h):
            k1 = self.velocity(y)
            k2 = self.velocity(y + h / 2 * k1)
            k3 = self.velocity(y + h / 2 * k2)
            k4 = self.velocity(y + h * k3)
            return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

        def forward(self, start, target):
            y = start
            for _ in range(self.steps):
                y = self.step(y, 1.0 / self.steps)
            return F.mse_loss(y, target), y

    return NeuralODE()


def jax_net():
    import jax.numpy as jnp

    def net(params, start, target, steps=2):
        def velocity(y):
            hidden = jnp.tanh(y @ params["velocity.fc1.weight"].T + params["velocity.fc1.bias"])
            return hidden @ params["velocity.fc2.weight"].T + params["velocity.fc2.bias"]

        y, h = start, 1.0 / steps
        for _ in range(steps):
            k1 = velocity(y)
            k2 = velocity(y + h / 2 * k1)
            k3 = velocity(y + h / 2 * k2)
            k4 = velocity(y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return ((y - target) ** 2).mean(), y

    return net
