"""An accuracy that nothing uses, beside a loss whose smoothing was forgotten on one side."""

import numpy as np


def inputs():
    return {"z": np.random.default_rng(1).standard_normal((4, 3)).astype(np.float32)}


def mindspore_net():
    import mindspore as ms
    from mindspore import ops

    y = ms.Tensor([2, 0, 1, 1], ms.int32)

    def net(z):
        _hits = ops.equal(z.argmax(1).astype(ms.int32), y).float().mean()
        probabilities = ops.softmax(z, -1)
        _entropy = (probabilities * ops.log(probabilities)).sum()
        return ops.cross_entropy(z, y)

    return net


def torch_net():
    import torch
    from torch.nn import functional

    y = torch.tensor([2, 0, 1, 1])

    def net(z):
        _hits = (z.argmax(1) == y).float().mean()
        probabilities = torch.softmax(z, -1)
        _entropy = (probabilities * torch.log(probabilities)).sum()
        return functional.cross_entropy(z, y, label_smoothing=0.1)

    return net
