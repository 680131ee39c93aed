"""The ResNet with OneCycle in JAX, flax and optax."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state
from recorded_loop import start_of, steps

TOTAL = 6


class BatchNorm(nn.Module):
    """As PyTorch's: the running variance is the unbiased one, which that of flax is not."""

    momentum: float = 0.9

    @nn.compact
    def __call__(self, x, train):
        width, rows = x.shape[-1:], x.size // x.shape[-1]
        scale = self.param("scale", nn.initializers.ones, width)
        bias = self.param("bias", nn.initializers.zeros, width)
        running_mean = self.variable("batch_stats", "mean", jnp.zeros, width)
        running_var = self.variable("batch_stats", "var", jnp.ones, width)
        mean, var = running_mean.value, running_var.value
        if train:
            mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
            unbiased = var * rows / (rows - 1)
            running_mean.value += (1 - self.momentum) * (mean - running_mean.value)
            running_var.value += (1 - self.momentum) * (unbiased - running_var.value)
        return (x - mean) / jnp.sqrt(var + 1e-5) * scale + bias


class ResNet(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        conv = functools.partial(nn.Conv, 4, (3, 3), use_bias=False)
        x = nn.relu(BatchNorm(name="bn0")(conv(name="stem")(x), train))
        branch = nn.relu(BatchNorm(name="bn1")(conv(name="conv1")(x), train))
        branch = BatchNorm(name="bn2")(conv(name="conv2")(branch), train)
        return nn.Dense(4, name="fc")(nn.relu(x + branch).mean((1, 2)))


class TrainState(train_state.TrainState):
    batch_stats: Any


def between(first, last, share):
    return last + (first - last) / 2 * (1 + jnp.cos(jnp.pi * share))


def one_cycle(most):
    """PyTorch's, whose rate is the greatest between two steps; that of optax is so at one."""
    up = 0.3 * TOTAL - 1

    def rate(step):
        rising = between(most / 25, most, step / up)
        falling = between(most, most / 25 / 1e4, (step - up) / (TOTAL - 1 - up))
        return jnp.where(step <= up, rising, falling)

    return rate


NORM = {"scale": "weight", "bias": "bias"}
STATISTICS = {"mean": "running_mean", "var": "running_var"}
params = {name: start_of(name, kernel="weight") for name in ("stem", "conv1", "conv2")}
params |= {name: start_of(name, **NORM) for name in ("bn0", "bn1", "bn2")}
params["fc"] = start_of("fc")
momentum = optax.sgd(one_cycle(0.2), momentum=0.9)
state = TrainState.create(
    apply_fn=ResNet().apply,
    params=params,
    tx=optax.chain(optax.add_decayed_weights(5e-4), momentum),
    batch_stats={name: start_of(name, **STATISTICS) for name in ("bn0", "bn1", "bn2")},
)


@jax.jit
def train_step(state, x, y):
    def loss_of(params):
        variables = {"params": params, "batch_stats": state.batch_stats}
        logits, updates = state.apply_fn(variables, x, train=True, mutable=["batch_stats"])
        labels = optax.smooth_labels(jax.nn.one_hot(y, 4), 0.1)
        return optax.softmax_cross_entropy(logits, labels).mean(), updates

    (loss, updates), gradients = jax.value_and_grad(loss_of, has_aux=True)(state.params)
    return state.apply_gradients(grads=gradients, **updates), loss


for x, y in steps("images", "classes"):
    images = x.transpose(0, 2, 3, 1)  # flax has channels last
    state, loss = train_step(state, images, y)
