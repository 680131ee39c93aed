"""Two intermediate values, each of which two operators read together with the other one."""

import numpy as np


def inputs():
    return {"x": np.array([[0.5, -0.25], [1.0, 0.75]], np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(x):
        a = ops.sin(x)
        b = ops.cos(x)
        return (a * b + a / b).sum()

    return net


def torch_net():
    import torch

    def net(x):
        a = torch.sin(x)
        b = torch.cos(x)
        return (a * b + a / b).sum()

    return net
