"""A net that is trained in PyTorch and in JAX."""

import numpy as np

OUTPUTS = ("loss",)
TRAIN = True


def inputs():
    random = np.random.default_rng(0)
    return {
        "x": random.normal(size=(8, 5)).astype(np.float32),
        "y": random.normal(size=(8, 1)).astype(np.float32),
    }


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(5, 6)
            self.fc2 = nn.Linear(6, 1)

        def forward(self, x, y):
            hidden = nn.functional.gelu(self.fc1(x))
            return ((self.fc2(hidden) - y) ** 2).mean()

    return Net()


def torch_optimizer(net):
    import torch

    return torch.optim.Adam(net.parameters(), 1e-2)


def jax_net():
    import jax

    def net(params, x, y):
        hidden = x @ params["fc1.weight"].T + params["fc1.bias"]
        hidden = jax.nn.gelu(hidden, approximate=False)
        return ((hidden @ params["fc2.weight"].T + params["fc2.bias"] - y) ** 2).mean()

    return net


def jax_optimizer(parameters):
    import optax

    return optax.adam(1e-2)
