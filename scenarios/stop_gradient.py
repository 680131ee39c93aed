"""A value that is used but not differentiated.

`h = x²`, and the loss is the sum of `h` times `h` again, the second one held: `ops.stop_gradient`
in MindSpore, `.detach()` in PyTorch. The loss is x⁴, yet the derivative is not 4·x³ but half of
that, `2·x · h = 2·x³`, for the held factor counts as a constant. Targets of reinforcement learning,
teachers and running averages are held this way.

Only the derivative is stopped, the value is not: change `x` and the loss moves by 4·x³. Central
differences of the forward would say so; the oracle holds what PyTorch's net detaches, and agrees
with the engines. MindSpore's tensors have no `.detach()`, and where PyTorch code says `with
torch.no_grad():` a port needs `stop_gradient` on each value that leaves the block. In MindSpore's
compiled graph the stop itself is gone: after the passes only its effect is left, an operand without
a gradient.
"""

import numpy as np


def inputs():
    return {"x": np.array([1.0, -2.0, 0.5])}


def mindspore_net():
    from mindspore import ops

    def stopped(x):
        h = x * x
        held = ops.stop_gradient(h)
        return (h * held).sum()

    return stopped


def torch_net():
    def stopped(x):
        h = x * x
        held = h.detach()
        return (h * held).sum()

    return stopped


def jax_net():
    from jax import lax

    def stopped(params, x):
        h = x * x
        held = lax.stop_gradient(h)
        return (h * held).sum()

    return stopped
