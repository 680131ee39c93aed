"""PPO in JAX, flax and optax."""

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState
from recorded_loop import start_of, steps

NAMES = ("observations", "actions", "old_log_probs", "advantages", "returns")


class ActorCritic(nn.Module):
    @nn.compact
    def __call__(self, observations):
        hidden = nn.tanh(nn.Dense(8)(observations))
        hidden = nn.tanh(nn.Dense(8)(hidden))
        logits, values = nn.Dense(3)(hidden), nn.Dense(1)(hidden)
        return logits, values.squeeze(-1)


LAYERS = ("trunk.0", "trunk.2", "actor", "critic")
net = ActorCritic()
schedule = optax.linear_schedule(3e-3, 0.0, transition_steps=10)
state = TrainState.create(
    apply_fn=net.apply,
    params={f"Dense_{place}": start_of(layer) for place, layer in enumerate(LAYERS)},
    tx=optax.chain(optax.clip_by_global_norm(0.5), optax.adam(schedule, eps=1e-5)),
)


@jax.jit
def train_step(state, observations, actions, old_log_probs, advantages, returns):
    def loss_of(params):
        logits, values = state.apply_fn({"params": params}, observations)
        log_probs = jax.nn.log_softmax(logits)
        log_prob = jnp.take_along_axis(log_probs, actions[:, None], -1)[:, 0]
        normal = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        ratio = jnp.exp(log_prob - old_log_probs)
        clipped = jnp.clip(ratio, 0.8, 1.2)
        policy_loss = -jnp.minimum(ratio * normal, clipped * normal).mean()
        value_loss = ((values - returns) ** 2).mean()
        entropy = -(jnp.exp(log_probs) * log_probs).sum(-1).mean()
        return policy_loss + 0.5 * value_loss - 0.01 * entropy

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss


for batch in steps(*NAMES):
    state, loss = train_step(state, *batch)
