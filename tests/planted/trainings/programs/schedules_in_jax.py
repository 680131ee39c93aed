"""The warm-up and the cosine in JAX and optax."""

import jax
import jax.numpy as jnp
import optax
from recorded_loop import start_of, steps

params = {layer: start_of(layer) for layer in ("0", "3")}
params["2"] = start_of("2", scale="weight", bias="bias")


def loss_of(params, x, y):
    hidden = jax.nn.sigmoid(x @ params["0"]["kernel"] + params["0"]["bias"])
    mean, variance = hidden.mean(-1, keepdims=True), hidden.var(-1, keepdims=True)
    normal = (hidden - mean) / jnp.sqrt(variance + 1e-5)
    normal = normal * params["2"]["scale"] + params["2"]["bias"]
    logits = normal @ params["3"]["kernel"] + params["3"]["bias"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


warm_up = optax.linear_schedule(0.05, 0.2, transition_steps=3)
cosine = optax.cosine_decay_schedule(0.2, decay_steps=3)
schedule = optax.join_schedules([warm_up, cosine], boundaries=[3])
optimizer = optax.chain(
    optax.add_decayed_weights(0.05, mask=jax.tree.map(lambda weight: weight.ndim > 1, params)),
    optax.sgd(schedule, momentum=0.9, nesterov=True),
)


@jax.jit
def train_step(params, state, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, loss


state = optimizer.init(params)
for x, y in steps("features", "labels"):
    params, state, loss = train_step(params, state, x, y)
