"""Views in which the elements of their operand come in another order, reshaped and turned again."""

import numpy as np


def inputs():
    rng = np.random.default_rng(0)
    return {
        "x": rng.standard_normal((2, 3)).astype(np.float32),
        "y": rng.standard_normal((4, 3)).astype(np.float32),
    }


def mindspore_net():
    from mindspore import mint

    def net(x, y):
        product = mint.einsum("ij,kj->ki", x, y)
        first = mint.transpose(x, 0, 1)
        second = mint.permute(mint.reshape(first, (2, 3)), (1, 0))
        return mint.exp(product).sum() + (first * second).sum()

    return net
