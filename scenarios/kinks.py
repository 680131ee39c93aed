"""Derivatives at kinks, where there is none.

At a kink a framework answers with a convention, not with a derivative. MindSpore and PyTorch share
most conventions: `relu` and `abs` have slope 0 at 0, `clamp` passes the whole gradient at its
bound, and `maximum` splits it in halves on a tie. In JAX `abs` has slope 1, and `clip` passes half.
The same function may be written in ways that differ: `relu(x)` is `maximum(x, 0)`, and gets 0, not
½. Central differences, the mean of both sides, follow no convention, and are expected to differ.

The last element of `x` is the trap of the dead branch. `where(x < 2, log(2 − x), 0)` is 0 at 2, yet
the gradient is nan: the branch that was not chosen gets a zero, times the infinite slope of the
logarithm at 0. No engine guards against it; put the `where` inside the logarithm.

The frameworks part at `v`, the Euclidean norm of a zero vector. PyTorch's norm is one operator that
answers 0 there. MindSpore 2.10 and JAX compute it as the root of a sum of squares, whose slope is
infinite, times zero: nan, and one training step later so is every weight that this gradient reaches.
"""

import numpy as np

SIDES = (
    "there is no derivative: the engines follow a convention (or give nan), "
    "central differences the mean of both sides"
)
NORM = (
    "MindSpore and JAX differentiate the norm at zero as a root, infinity times zero is nan; "
    "PyTorch's norm answers 0 there"
)
HALVES = "JAX has slope 1 for abs at 0, and passes half of the gradient at the bound of clip"
EXPECTED_DIFFERENCES = [
    {"engines": ("central-differences",), "reason": SIDES, "when": {"position": 0}},
    {"engines": ("jax",), "reason": HALVES, "when": {"position": 0}},
    {"engines": ("mindspore", "jax"), "reason": NORM, "when": {"position": 1}},
]


def inputs():
    return {"x": np.array([-2, 0, 1, 2], np.float32), "v": np.array([0, 0], np.float32)}


def mindspore_net():
    from mindspore import ops

    def kinks(x, v):
        bent = (
            ops.relu(x)
            + 2 * ops.abs(x)
            + 4 * ops.clamp(x, -1.0, 1.0)
            + 8 * ops.maximum(x, ops.ones_like(x))
        )
        guarded = ops.where(x < 2, ops.log(2 - x), ops.zeros_like(x))
        return bent.sum() + guarded.sum() + ops.norm(v)

    return kinks


def torch_net():
    import torch

    def kinks(x, v):
        bent = (
            torch.relu(x)
            + 2 * torch.abs(x)
            + 4 * torch.clamp(x, -1.0, 1.0)
            + 8 * torch.maximum(x, torch.ones_like(x))
        )
        guarded = torch.where(x < 2, torch.log(2 - x), torch.zeros_like(x))
        return bent.sum() + guarded.sum() + torch.norm(v)

    return kinks


def jax_net():
    import jax
    import jax.numpy as jnp

    def kinks(params, x, v):
        bent = (
            jax.nn.relu(x)
            + 2 * jnp.abs(x)
            + 4 * jnp.clip(x, -1.0, 1.0)
            + 8 * jnp.maximum(x, jnp.ones_like(x))
        )
        guarded = jnp.where(x < 2, jnp.log(2 - x), jnp.zeros_like(x))
        return bent.sum() + guarded.sum() + jnp.linalg.norm(v)

    return kinks
