"""A counter that is an attribute of a block which is computed again: MindSpore's graph counts once."""

import numpy as np

TRAIN = True


def inputs():
    return {"x": np.array([[1, 2], [3, -1]], np.float32)}


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(2, 2)
            self.count = ms.Parameter(
                ms.Tensor([0.0], ms.float32), name="count", requires_grad=False
            )

        def construct(self, x):
            self.count = self.count + 1.0
            return ops.tanh(self.fc(x)) / 2

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.block.recompute()

        def construct(self, x):
            return (self.block(x) ** 2).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            self.count += 1.0
            return torch.tanh(self.fc(x)) / 2

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def forward(self, x):
            return (checkpoint(self.block, x, use_reentrant=False) ** 2).sum()

    return Net()
