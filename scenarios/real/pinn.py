"""A physics-informed net for a heat equation.

Modelled on Raissi et al., "Physics-informed neural networks" (2019): a small tanh net `u(t, x)`, and
as loss the residual of the equation at points inside, `u_t − 0.1 u_xx`, beside the error at points on
the border. The derivatives are differences of the net between neighbouring points, as in the
variants with numerical differentiation (Chiu et al., "CAN-PINN", 2022).

Watch the weights of the two terms, and the step: dividing by its square lifts rounding by a factor
of a thousand, so the residual has far fewer right digits than the net.
"""

import numpy as np

OUTPUTS = ("loss", "residual")
CONSTANTS = ("value",)


def inputs():
    random = np.random.default_rng(22)
    return {
        "inside": random.uniform(size=(4, 2)).astype(np.float32),
        "border": random.uniform(size=(3, 2)).astype(np.float32),
        "value": random.normal(size=(3, 1)).astype(np.float32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class PINN(nn.Cell):
        def __init__(self, hidden=8, step=0.25):
            super().__init__()
            self.step = step
            self.net = nn.SequentialCell(
                nn.Dense(2, hidden),
                nn.Tanh(),
                nn.Dense(hidden, hidden),
                nn.Tanh(),
                nn.Dense(hidden, 1),
            )
            self.dt = ms.Tensor([[step, 0.0]], ms.float32)
            self.dx = ms.Tensor([[0.0, step]], ms.float32)

        def construct(self, inside, border, value):
            u = self.net(inside)
            u_t = (self.net(inside + self.dt) - self.net(inside - self.dt)) / (2 * self.step)
            beside = self.net(inside + self.dx) + self.net(inside - self.dx)
            u_xx = (beside - 2 * u) / self.step**2
            residual = u_t - 0.1 * u_xx
            loss_border = ops.mse_loss(self.net(border), value)
            return residual.square().mean() + 10.0 * loss_border, residual

    return PINN()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class PINN(nn.Module):
        def __init__(self, hidden=8, step=0.25):
            super().__init__()
            self.step = step
            self.net = nn.Sequential(
                nn.Linear(2, hidden),
                nn.Tanh(),
                nn.Linear(hidden, hidden),
                nn.Tanh(),
                nn.Linear(hidden, 1),
            )
            self.register_buffer("dt", torch.tensor([[step, 0.0]]), persistent=False)
            self.register_buffer("dx", torch.tensor([[0.0, step]]), persistent=False)

        def forward(self, inside, border, value):
            u = self.net(inside)
            u_t = (self.net(inside + self.dt) - self.net(inside - self.dt)) / (2 * self.step)
            beside = self.net(inside + self.dx) + self.net(inside - self.dx)
            u_xx = (beside - 2 * u) / self.step**2
            residual = u_t - 0.1 * u_xx
            loss_border = F.mse_loss(self.net(border), value)
            return residual.pow(2).mean() + 10.0 * loss_border, residual

    return PINN()


def jax_net():
    import jax.numpy as jnp

    def mlp(params, x):
        for layer in ("net.0", "net.2"):
            x = jnp.tanh(x @ params[f"{layer}.weight"].T + params[f"{layer}.bias"])
        return x @ params["net.4.weight"].T + params["net.4.bias"]

    def net(params, inside, border, value, step=0.25):
        dt, dx = np.array([[step, 0.0], [0.0, step]], np.float32)
        u = mlp(params, inside)
        u_t = (mlp(params, inside + dt) - mlp(params, inside - dt)) / (2 * step)
        beside = mlp(params, inside + dx) + mlp(params, inside - dx)
        u_xx = (beside - 2 * u) / step**2
        residual = u_t - 0.1 * u_xx
        loss_border = ((mlp(params, border) - value) ** 2).mean()
        return (residual**2).mean() + 10.0 * loss_border, residual

    return net
