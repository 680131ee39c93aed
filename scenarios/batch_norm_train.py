"""Batch norm in training mode.

In training mode batch norm normalises with mean and variance of this very batch. Every output
depends on every sample, and the gradient flows back through mean and variance too: the derivative
by `x` sums to zero over the batch, in each column, because adding a constant to a column changes
nothing. The running statistics are not used at all; they are *moved*, as a side effect of the
forward, and that they start far from the batch here leaves the gradients as they are.

The momentum is the weight of the **old** statistics in MindSpore and of the **new** ones in
PyTorch: 0.9 here is 0.1 there, and a port that keeps the number turns a slow average into a fast
one. It shows in inference only, much later. Both normalise with the biased variance (divided by n)
and move the running one by the unbiased (divided by n − 1). MindSpore calls scale and shift `gamma`
and `beta`, and the statistics `moving_mean` and `moving_variance`. A `Cell` must be told
`set_train()`, a `Module` starts in training mode; `TRAIN = True` sets both.
"""

import numpy as np

TRAIN = True


def inputs():
    return {"x": np.array([[1.0, -2.0], [3.0, 0.5], [-1.0, 1.0], [2.0, 4.5]], np.float32)}


def parameters():
    return {
        "bn.weight": np.array([1.5, 0.5], np.float32),
        "bn.bias": np.array([0.25, -0.5], np.float32),
        "bn.running_mean": np.array([0.5, -1.0], np.float32),
        "bn.running_var": np.array([4.0, 0.25], np.float32),
    }


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.bn = nn.BatchNorm1d(2, momentum=0.9)

        def construct(self, x):
            y = self.bn(x)
            return (y * y * y).sum()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.bn = nn.BatchNorm1d(2, momentum=0.1)

        def forward(self, x):
            y = self.bn(x)
            return (y * y * y).sum()

    return Net()


def jax_net():
    import jax

    def net(params, x):
        normal = (x - x.mean(0)) * jax.lax.rsqrt(x.var(0) + 1e-5)
        y = normal * params["bn.weight"] + params["bn.bias"]
        return (y * y * y).sum()

    return net
