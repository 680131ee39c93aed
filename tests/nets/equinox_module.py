"""A convolution and two layers, in JAX a module of equinox, which sees one example of a batch."""

import numpy as np

OUTPUTS = ("loss",)


def inputs():
    rng = np.random.default_rng(0)
    return {"x": rng.standard_normal((2, 3, 6, 6)).astype(np.float32)}


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3)
            self.norm = nn.LayerNorm(4)
            self.drop = nn.Dropout(0.5)
            self.fcs = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 2)])

        def forward(self, x):
            x = self.drop(self.norm(self.conv(x).relu().mean((2, 3))))
            for fc in self.fcs:
                x = fc(x)
            return (x**2).mean()

    return Net()


def jax_net():
    import equinox as eqx
    import jax

    class Net(eqx.Module):
        conv: eqx.nn.Conv2d
        norm: eqx.nn.LayerNorm
        drop: eqx.nn.Dropout
        fcs: list

        def __init__(self, key):
            keys = jax.random.split(key, 3)
            self.conv = eqx.nn.Conv2d(3, 4, 3, key=keys[0])
            self.norm = eqx.nn.LayerNorm(4)
            self.drop = eqx.nn.Dropout(0.5)
            self.fcs = [eqx.nn.Linear(4, 4, key=keys[1]), eqx.nn.Linear(4, 2, key=keys[2])]

        def one(self, x):
            x = self.drop(self.norm(jax.nn.relu(self.conv(x)).mean((1, 2))))
            for fc in self.fcs:
                x = fc(x)
            return x

        def __call__(self, x):
            return (jax.vmap(self.one)(x) ** 2).mean()

    return Net(jax.random.key(0))
