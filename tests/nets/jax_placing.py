"""A mean along one axis of three, and the last of some rows, in JAX."""

import numpy as np


def inputs():
    return {"x": np.arange(24, dtype=np.float32).reshape(2, 3, 4) ** 2 / 8}


def parameters():
    return {"w": np.ones(4, np.float32)}


def jax_net():
    def net(params, x):
        centred = x - x.mean(2, keepdims=True)
        return (centred[:, -1] * params["w"]).sum(1).mean()

    return net
