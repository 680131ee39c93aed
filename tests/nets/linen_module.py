"""A convolution with batch norm, in JAX a module of flax.linen."""

import numpy as np

OUTPUTS = ("loss",)


def inputs():
    rng = np.random.default_rng(0)
    return {"x": rng.standard_normal((2, 6, 6, 3)).astype(np.float32)}


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3)
            self.norm = nn.BatchNorm2d(4)
            self.fcs = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 2)])

        def forward(self, x):
            x = self.norm(self.conv(x.permute(0, 3, 1, 2))).relu().mean((2, 3))
            for fc in self.fcs:
                x = fc(x)
            return (x**2).mean()

    return Net()


def jax_net():
    import jax
    from flax import linen as nn

    class Net(nn.Module):
        def setup(self):
            self.conv = nn.Conv(4, (3, 3), padding="VALID")
            self.norm = nn.BatchNorm()
            self.fcs = [nn.Dense(4), nn.Dense(2)]

        def __call__(self, x, train=False):
            x = self.norm(self.conv(x), use_running_average=not train)
            x = jax.nn.relu(x).mean((1, 2))
            for fc in self.fcs:
                x = fc(x)
            return (x**2).mean()

    return Net()
