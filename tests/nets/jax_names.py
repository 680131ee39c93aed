"""A net in JAX whose inputs are called as variables of a listing may be."""

import numpy as np


def inputs():
    return {"start": np.array([0.5, -1.0], np.float32), "pull": np.array([2.0, 3.0], np.float32)}


def parameters():
    return {"w": np.array([1.5, 0.25], np.float32)}


def jax_net():
    def net(params, start, pull):
        return params["w"] * start * pull

    return net
