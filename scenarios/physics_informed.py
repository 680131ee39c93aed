"""A net whose loss contains its own second derivative.

A physics-informed net is trained until it solves a differential equation, here `u″(x) = −x`, at a
few points `x`. The second derivative of the net by its *input* is part of the forward, and the
gradient with respect to the weights `w` goes through it. MindSpore writes `ms.grad(ms.grad(u))`;
its `grad` differentiates the sum of whatever comes out. `torch.func.grad` insists on a scalar,
hence `.sum()`. (`torch.autograd.grad(…, create_graph=True)`, the older form, also needs an `x` that
requires a gradient while the forward runs.)

Three engines and central differences agree. **MindSpore's tape (2.10.0) is wrong, without a word**:
`u″` itself, and so the loss. `u` is a tanh of `a`, the *sum* of three tanh. The slope handed back
to the sum, 1 − u², depends on `x`, but the tape's backward of a sum passes it on as a constant, and
the second derivative loses its term −2·u·(1 − u²)·a′². So it is behind `reshape`, `T`, `mean` and
`concat` of something computed. Element-wise ops, `matmul` and `nn.Dense` are right: with
`ops.matmul(hidden, ones)` for the sum all engines agree. Or run such a net in graph mode.
"""

import numpy as np

TAPE = (
    "MindSpore 2.10's tape takes what goes back through a sum for a constant, "
    "so a second derivative lacks a term"
)
EXPECTED_DIFFERENCES = [{"engines": ("mindspore-tape",), "reason": TAPE}]


def inputs():
    return {
        "x": np.array([[0.5], [-1.0]], np.float32),
        "w": np.array([1.0, -0.5, 0.75], np.float32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import ops

    def u(x, w):
        return ops.tanh(ops.tanh(x * w).sum(1)).sum()

    def loss(x, w):
        bend = ms.grad(ms.grad(u))(x, w)
        residual = bend + x
        return (residual * residual).sum()

    return loss


def torch_net():
    import torch

    def u(x, w):
        return torch.tanh(torch.tanh(x * w).sum(1)).sum()

    def slope(x, w):
        return torch.func.grad(u)(x, w).sum()

    def loss(x, w):
        bend = torch.func.grad(slope)(x, w)
        residual = bend + x
        return (residual * residual).sum()

    return loss


def jax_net():
    import jax
    import jax.numpy as jnp

    def u(x, w):
        return jnp.tanh(jnp.tanh(x * w).sum(1)).sum()

    def slope(x, w):
        return jax.grad(u)(x, w).sum()

    def loss(params, x, w):
        bend = jax.grad(slope)(x, w)
        residual = bend + x
        return (residual * residual).sum()

    return loss
