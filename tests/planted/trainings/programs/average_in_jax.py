"""The EMA of the weights in JAX, flax and optax."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state
from recorded_loop import start_of, steps

DECAY = 0.95


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        hidden = nn.LayerNorm(epsilon=1e-5)(nn.elu(nn.Dense(8)(x)))
        return nn.Dense(3)(hidden)


class TrainState(train_state.TrainState):
    ema_params: Any

    def apply_gradients(self, *, grads):
        state = super().apply_gradients(grads=grads)
        decay = jnp.where(self.step == 0, 0.0, DECAY)  # the average begins with the first weights
        average = optax.incremental_update(state.params, self.ema_params, 1 - decay)
        return state.replace(ema_params=average)


params = {
    "Dense_0": start_of("0"),
    "LayerNorm_0": start_of("2", scale="weight", bias="bias"),
    "Dense_1": start_of("3"),
}
state = TrainState.create(
    apply_fn=Net().apply,
    params=params,
    tx=optax.adamw(1e-2, weight_decay=0.05),
    ema_params=params,
)


@jax.jit
def train_step(state, x, y):
    def loss_of(params):
        losses = optax.huber_loss(state.apply_fn({"params": params}, x), y)
        return losses.mean()

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss


for x, y in steps("features", "targets"):
    state, loss = train_step(state, x, y)
