"""A branch that depends on a value.

`if x.sum() > 0` cannot be decided before the input is there. A tape runs the program as Python
does, records the one branch that was taken, and forgets that there was another: its gradient graph
is a different one for other inputs. MindSpore's compiler keeps **both** branches in the graph,
behind a switch, each with its own backward. PyTorch's joint graph is captured whole or not at all,
and a Python `if` on a tensor's value cannot be captured: that engine has no answer here, and says
why (`torch.cond` would be the way to write it).

Where an engine answers, the numbers are those of the branch taken: for a positive sum the function
is `sum(w·x³)`, so the derivative with respect to `x` is `3·w·x²`. All styles agree on that. None of
them knows that the function jumps where the sum changes its sign.
"""

import numpy as np


def inputs():
    return {"x": np.array([1.0, -0.5, 2.0], np.float32)}


def parameters():
    return {"w": np.array([0.5, 1.5, -1.0], np.float32)}


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(ops.ones(3))

        def construct(self, x):
            if x.sum() > 0:
                cube = x * x * x
                out = self.w * cube
            else:
                out = self.w * ops.exp(x)
            return out.sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(3))

        def forward(self, x):
            if x.sum() > 0:
                cube = x * x * x
                out = self.w * cube
            else:
                out = self.w * torch.exp(x)
            return out.sum()

    return Net()


def jax_net():
    import jax.numpy as jnp

    def net(params, x):
        if x.sum() > 0:  # jax.jit asks for jax.lax.cond
            cube = x * x * x
            out = params["w"] * cube
        else:
            out = params["w"] * jnp.exp(x)
        return out.sum()

    return net
