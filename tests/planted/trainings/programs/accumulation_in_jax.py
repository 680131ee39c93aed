"""The accumulation in JAX and optax."""

import jax
import jax.numpy as jnp
import optax
from recorded_loop import start_of, steps

params = {layer: start_of(layer) for layer in ("0", "2")}
MICRO = 3


def loss_of(params, x, y):
    hidden = jax.nn.silu(x @ params["0"]["kernel"] + params["0"]["bias"])
    logits = hidden @ params["2"]["kernel"] + params["2"]["bias"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean() / MICRO


@jax.jit
def gradients_of(params, x, y):
    return jax.grad(loss_of)(params, x, y)


chain = optax.chain(optax.clip_by_global_norm(0.5), optax.adamw(1e-2, weight_decay=0.1))
optimizer = optax.apply_if_finite(chain, max_consecutive_errors=3)


@jax.jit
def update(params, state, gradients):
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state


state = optimizer.init(params)
for x, y in steps("overflowing", "labels"):
    sums = jax.tree.map(jnp.zeros_like, params)
    for micro in range(MICRO):
        part = slice(3 * micro, 3 * micro + 3)
        sums = jax.tree.map(jnp.add, sums, gradients_of(params, x[part], y[part]))
    params, state = update(params, state, sums)
