"""Truncated BPTT with an LSTM in JAX and optax."""

import jax
import jax.numpy as jnp
import optax
from recorded_loop import start_of, steps

NAMES = [f"{kind}_{by}_l0" for kind in ("weight", "bias") for by in ("ih", "hh")]
params = {"lstm": start_of("lstm", **{name: name for name in NAMES}), "head": start_of("head")}


def lstm(params, x, state):
    def cell(state, x):
        h, c = state
        gates = x @ params["weight_ih_l0"].T + params["bias_ih_l0"]
        gates = gates + h @ params["weight_hh_l0"].T + params["bias_hh_l0"]
        i, f, g, o = jnp.split(gates, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    state, output = jax.lax.scan(cell, state, x.swapaxes(0, 1))
    return output.swapaxes(0, 1), state


def loss_of(params, x, state, y):
    output, state = lstm(params["lstm"], x, state)
    prediction = output @ params["head"]["kernel"] + params["head"]["bias"]
    return jnp.mean((prediction - y) ** 2), state


optimizer = optax.chain(optax.clip_by_global_norm(0.25), optax.sgd(0.1, momentum=0.9))


@jax.jit
def train_step(params, optimizer_state, x, state, y):
    gradient = jax.value_and_grad(loss_of, has_aux=True)
    (loss, state), gradients = gradient(params, x, state, y)
    updates, optimizer_state = optimizer.update(gradients, optimizer_state, params)
    return optax.apply_updates(params, updates), optimizer_state, state, loss


optimizer_state = optimizer.init(params)
state = (jnp.zeros((4, 6)), jnp.zeros((4, 6)))
for step, (x, y) in enumerate(steps("series", "next_values")):
    if step == 4:  # the next epoch begins
        state = (jnp.zeros((4, 6)), jnp.zeros((4, 6)))
    params, optimizer_state, state, loss = train_step(params, optimizer_state, x, state, y)
