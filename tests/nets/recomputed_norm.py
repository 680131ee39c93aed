"""Batch norm inside a recomputed block: the gradients are equal, the running mean moves twice."""

import numpy as np

TRAIN = True


def inputs():
    return {"x": np.array([[3.0], [4.0], [5.0], [4.5]], np.float32)}


def parameters():
    return {
        "block.bn.weight": np.array([1.5], np.float32),
        "block.bn.bias": np.array([0.25], np.float32),
        "block.bn.running_mean": np.array([0.0], np.float32),
        "block.bn.running_var": np.array([1.0], np.float32),
    }


def mindspore_net():
    from mindspore import nn

    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.bn = nn.BatchNorm1d(1, momentum=0.9)

        def construct(self, x):
            y = self.bn(x)
            return y * y * y

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.block.recompute()

        def construct(self, x):
            return self.block(x).sum()

    return Net()


def torch_net():
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.bn = nn.BatchNorm1d(1, momentum=0.1)

        def forward(self, x):
            y = self.bn(x)
            return y * y * y

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def forward(self, x):
            return checkpoint(self.block, x, use_reentrant=False).sum()

    return Net()
