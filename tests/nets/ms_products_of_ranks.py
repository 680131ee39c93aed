"""Products of vectors, matrices and batches of them, which run in several kinds of kernels."""

import numpy as np


def inputs():
    rng = np.random.default_rng(0)
    return {
        "x": rng.standard_normal((3,)).astype(np.float32),
        "w": rng.standard_normal((3, 4)).astype(np.float32),
        "batch": rng.standard_normal((2, 3, 4)).astype(np.float32),
    }


def mindspore_net():
    from mindspore import mint

    def net(x, w, batch):
        row = mint.matmul(x, w)
        rows = mint.matmul(batch, row)
        back = mint.matmul(w, row)
        squares = mint.matmul(batch, w.T)
        return rows.sum() * back.sum() + (squares * squares).sum()

    return net
