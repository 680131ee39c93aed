"""A convolution with batch norm."""

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
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.conv = nnx.Conv(3, 4, (3, 3), padding="VALID", rngs=rngs)
            self.norm = nnx.BatchNorm(4, rngs=rngs)
            self.fcs = [nnx.Linear(4, 4, rngs=rngs), nnx.Linear(4, 2, rngs=rngs)]

        def __call__(self, x):
            x = jax.nn.relu(self.norm(self.conv(x))).mean((1, 2))
            for fc in self.fcs:
                x = fc(x)
            return (x**2).mean()

    return Net(nnx.Rngs(0))
