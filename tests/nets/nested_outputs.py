"""Outputs as nets of libraries return them: a loss beside a pair, None, and a dict of lists."""

import numpy as np

OUTPUTS = ("loss", "key", "value", "first", "second")


def inputs():
    return {"x": np.array([1, 3], np.float32)}


def parameters():
    return {"w": np.array([2, 5], np.float32)}


def mindspore_net():
    from mindspore import Parameter, Tensor, nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(np.array([2, 5], np.float32)), name="w")

        def construct(self, x):
            key = x * self.w
            return key.sum(), (key, key + 1), None, {"states": [key * 2, key * 3]}

    return Net()


def torch_net():
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.tensor([2.0, 5.0]))

        def forward(self, x):
            key = x * self.w
            return key.sum(), (key, key + 1), None, {"states": [key * 2, key * 3]}

    return Net()
