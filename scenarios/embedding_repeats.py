"""An embedding that is asked for one row three times.

Row 2 of the table is used at three of the four places. The gradient of a table is as large as the
table: rows that were not asked for get zeros, and a row that was used more than once gets the
**sum** over its uses, not the last one and not the mean. Here `place` weighs the uses with 1, 2, 3
and 4 (times 10 in the second column), so the three gradients of row 2 are 1, 3 and 4, together 8;
row 0 has 2, row 1 nothing. A scatter that overwrites instead of adding would say 4.

An index has no derivative: PyTorch refuses to be asked, MindSpore answers with zeros. Three further
things differ in `nn.Embedding` itself. MindSpore draws the table with standard deviation 0.01,
PyTorch with 1. PyTorch's `padding_idx` keeps the gradient of that row at zero, while MindSpore's
only starts the row at zero and trains it like the rest. And a negative index counts from the end in
MindSpore, where PyTorch raises IndexError.
"""

import numpy as np

EXPECTED_DIFFERENCES = [
    {
        "engines": ("torch", "jax"),
        "reason": "PyTorch and JAX refuse to differentiate by integers, MindSpore returns zeros",
        "when": {"position": 0},
    }
]


def inputs():
    return {"index": np.array([2, 0, 2, 2], np.int32)}


def parameters():
    return {
        "table.weight": np.array([[1.0, -1.0], [0.5, 2.0], [-2.0, 0.25]], np.float32),
        "place": np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]], np.float32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(3, 2)
            self.place = ms.Parameter(ops.ones((4, 2)))

        def construct(self, index):
            return (self.table(index) * self.place).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(3, 2)
            self.place = nn.Parameter(torch.ones(4, 2))

        def forward(self, index):
            return (self.table(index) * self.place).sum()

    return Net()


def jax_net():
    def net(params, index):
        return (params["table.weight"][index] * params["place"]).sum()

    return net
