"""Views of a part of their operand's memory, and of more than it."""

import numpy as np


def inputs():
    rng = np.random.default_rng(0)
    return {
        "x": rng.standard_normal((2, 1, 4)).astype(np.float32),
        "y": rng.standard_normal((2, 3, 4)).astype(np.float32),
    }


def mindspore_net():
    from mindspore import mint

    def net(x, y):
        wide = mint.broadcast_to(x, (2, 3, 4))
        middle = mint.narrow(y, 1, 1, 2)
        last = mint.select(y * 2, 0, 1)
        raised = mint.unsqueeze(x * 3, 0)
        return (
            (mint.exp(wide) * y).sum()
            + (middle * middle).sum()
            + (last * last).sum()
            + (raised * raised).sum()
        )

    return net
