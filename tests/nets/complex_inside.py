"""Complex numbers inside of a net, and as an output: a spectrum and its power."""

import numpy as np

OUTPUTS = ("power", "spectrum")


def inputs():
    return {"x": np.array([1, 2, 4], np.float32)}


def mindspore_net():
    from mindspore import ops
    from mindspore.ops.operations import Complex

    def net(x):
        spectrum = Complex()(x, x * x)
        return ops.abs(spectrum).sum(), spectrum

    return net


def torch_net():
    import torch

    def net(x):
        spectrum = torch.complex(x, x * x)
        return torch.abs(spectrum).sum(), spectrum

    return net
