"""A gradient clipped before it is scaled and after it: one library function, entered twice."""

import numpy as np

OUTPUTS = ("clipped_first", "scaled_first")


def inputs() -> dict[str, np.ndarray]:
    return {"w": np.array([1.0, -2.0, 0.5], np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(w):
        clipped_first = ops.clip_by_norm(w * 30.0, 1.0) / 30.0
        scaled_first = ops.clip_by_norm(w / 30.0, 1.0)
        return (w * clipped_first).sum(), (w * scaled_first).sum()

    return net
