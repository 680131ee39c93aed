"""What ``.data`` gives is read before its memory is overwritten, and afterwards."""

import numpy as np


def inputs():
    rng = np.random.default_rng(0)
    return {"a": rng.standard_normal((3,)).astype(np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(a):
        squashed = ops.sigmoid(a)
        shared = squashed.data
        tripled = shared * 3
        other = ops.exp(squashed).data
        squashed.add_(2.0)
        return (squashed * tripled).sum() + shared.sum() + other.sum()

    return net
