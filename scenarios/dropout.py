"""Dropout with a mask that is given.

In training, dropout multiplies by a random mask of zeros and ones and divides by 1 − p, so that the
expectation stays what it was. The backward multiplies by the **same** mask and divides by the same
1 − p: where the forward dropped, no gradient passes, and what passes is larger by 1/(1 − p). Two
frameworks draw different masks from the same seed, so no two trainings can be compared number by
number. Here the mask is an input and the product is written out, which is what the layer does in
training, with a mask that both share.

The layer itself stands behind it in inference mode, and there it is nothing at all: no mask, no
factor, a gradient of one. A MindSpore `Cell` starts in inference mode, a PyTorch `Module` in
training mode, so a port that never calls `set_train()` trains without dropout. And mind the
argument: `nn.Dropout(0.25)` drops a quarter in PyTorch, but the first parameter of MindSpore's is
still `keep_prob`, and the same text drops three quarters. Write `p=0.25`.
"""

import numpy as np


def inputs():
    return {
        "x": np.array([[1.0, -2.0, 3.0, 0.5], [0.25, 4.0, -1.0, 2.0]]),
        "mask": np.array([[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 0.0]]),
    }


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dropout = nn.Dropout(p=0.25)

        def construct(self, x, mask):
            dropped = x * mask / (1 - 0.25)
            kept = self.dropout(dropped)
            return (kept * kept).sum()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.dropout = nn.Dropout(p=0.25)

        def forward(self, x, mask):
            dropped = x * mask / (1 - 0.25)
            kept = self.dropout(dropped)
            return (kept * kept).sum()

    return Net()


def jax_net():
    def net(params, x, mask):
        dropped = x * mask / (1 - 0.25)
        kept = dropped  # a layer in inference mode
        return (kept * kept).sum()

    return net
