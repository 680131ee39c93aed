"""Views that are taken on lines of their own, beside operators on others."""

import numpy as np


def inputs():
    rng = np.random.default_rng(0)
    return {"x": rng.standard_normal((4, 6)).astype(np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(x):
        h = ops.tanh(x)
        turned = h.T  # a view
        rest = h[1:]  # a view
        row = h[0]  # a view
        column = h[:, 1]  # a view
        corner = h[1:, 2]  # a view
        of_input = x[2]  # a view
        flat = h.view(24)  # a view
        reshaped = h.reshape(3, 8)  # a view
        left, right = ops.split(h, 2)  # a view
        upper, lower = ops.chunk(h, 2, 1)  # a view
        wider = h[None]  # a view
        total = ops.exp(turned).sum() + ops.sin(rest).sum() + ops.cos(row).sum()
        total = total + ops.square(column).sum() + ops.abs(corner).sum()
        total = total + ops.exp(of_input).sum() + ops.sin(flat).sum()
        total = total + ops.cos(reshaped).sum() + (left * right).sum()
        total = total + (upper * lower).sum() + ops.exp(wider).sum()
        for part in h:  # a view
            total = total + ops.sin(part).sum()
        return total

    return net
