"""Gradient checkpointing.

Two equal blocks follow each other. The first keeps for backward what it computed. Of the second
just the input is kept, and its forward is run once more when backward comes to it: memory bought
with time. The gradients are the same.

In MindSpore checkpointing belongs to the Cell: `block.recompute()`, once, before the first run; it
works in both modes. In PyTorch it belongs to the call: `checkpoint(block, x, use_reentrant=False)`.
The gradient graphs show what the numbers do not: operators of the second block stand in backward
again. MindSpore's compiler copies them there; both tapes run them when the first of the block's
values is asked for, and PyTorch's stops as soon as it has the last one. PyTorch's *joint* graph
does not show it: the block is marked, and a later step, the split into a forward and a backward,
decides what to keep. So its operators occur once, and their values count as saved.

The blocks share one `construct`, and MindSpore's graph files most operators of the second under the
name of the first. `torch.func` cannot differentiate through a checkpoint at all ("don't yet support
saved tensor hooks").
"""

import numpy as np


def inputs():
    return {"x": np.array([[0.5, -1.0, 0.25], [1.5, 0.75, -0.5]], np.float64)}


def mindspore_net():
    from mindspore import nn, ops

    class Block(nn.Cell):
        def construct(self, x):
            return ops.tanh(x) * ops.sigmoid(x)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.kept = Block()
            self.redone = Block()
            self.redone.recompute()

        def construct(self, x):
            return self.redone(self.kept(x)).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    class Block(nn.Module):
        def forward(self, x):
            return torch.tanh(x) * torch.sigmoid(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.kept = Block()
            self.redone = Block()

        def forward(self, x):
            return checkpoint(self.redone, self.kept(x), use_reentrant=False).sum()

    return Net()


def jax_net():
    import jax
    import jax.numpy as jnp

    def block(x):
        return jnp.tanh(x) * jax.nn.sigmoid(x)

    def net(params, x):
        return jax.checkpoint(block)(block(x)).sum()

    return net
