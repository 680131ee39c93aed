"""A scan, a branch, and loops with and without a gradient, in JAX."""

import numpy as np


def inputs():
    return {
        "x": np.array([0.5, -1.0, 0.75], np.float32),
        "s": np.arange(12, dtype=np.float32).reshape(4, 3) / 10,
    }


def parameters():
    return {"w": np.eye(3, dtype=np.float32) * 0.7 + 0.1}


def jax_net():
    import jax
    import jax.numpy as jnp

    def net(params, x, s):
        def step(h, row):
            h = jnp.tanh(h @ params["w"] + row)
            return h, h

        last, hs = jax.lax.scan(step, x, s)
        out = jax.lax.cond(last.sum() > 0, lambda v: jnp.sin(v), lambda v: jnp.cos(v), last)
        factor = jax.lax.while_loop(
            lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2.0), (0, jnp.ones(3))
        )[1]
        out = jax.lax.fori_loop(0, 2, lambda i, v: v * jnp.sin(v), out * factor)
        return (hs**2).sum() + out.sum()

    return net
