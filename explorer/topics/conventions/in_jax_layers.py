"""What the layers of Flax (nnx), a library on JAX, are made with where nothing is said."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from flax import nnx

from explorer.model.measurement import Ask, Found
from explorer.topics.conventions.inputs import BATCH
from explorer.topics.in_jax import attempt_in_a_sentence


def layers(ask: Ask) -> Found:
    """The settings of layers, and what small ones give."""
    return Found({name: attempt_in_a_sentence(layer) for name, layer in LAYERS.items()})


def random() -> nnx.Rngs:
    """The random numbers that a layer begins with."""
    return nnx.Rngs(0)


def after_a_batch() -> nnx.BatchNorm:
    """Batch norm that has seen one batch."""
    norm = nnx.BatchNorm(2, rngs=random())
    norm(jnp.array(BATCH))
    return norm


def weight_of_batch() -> float:
    """The share of the batch's mean in the running mean, which was 0."""
    mean = jnp.array(BATCH).mean(0)[0]
    return round(float(after_a_batch().mean.value[0] / mean), 4)


def variance_of_batch() -> float:
    """The variance that was mixed into the running one, which was 1."""
    weight = weight_of_batch()
    return round((float(after_a_batch().var.value[0]) - (1 - weight)) / weight, 2)


def share_dropped() -> float:
    """The share of zeros that Dropout(0.3) makes of ones."""
    return round(float((nnx.Dropout(0.3, rngs=random())(jnp.ones(10_000)) == 0).mean()), 1)


def dense() -> nnx.Linear:
    """A layer from three features to two."""
    return nnx.Linear(3, 2, rngs=random())


def conv() -> nnx.Conv:
    """A convolution of three by three, of one channel."""
    return nnx.Conv(1, 1, (3, 3), rngs=random())


LAYERS: dict[str, Callable[[], Any]] = {
    "layer_norm_epsilon": lambda: nnx.LayerNorm(2, rngs=random()).epsilon,
    "batch_norm_epsilon": lambda: nnx.BatchNorm(2, rngs=random()).epsilon,
    "group_norm_epsilon": lambda: nnx.GroupNorm(2, 1, rngs=random()).epsilon,
    "batch_norm_weight_of_batch": weight_of_batch,
    "batch_norm_variance": variance_of_batch,
    "starts_in_training": lambda: not nnx.BatchNorm(2, rngs=random()).use_running_average,
    "dropout_of_0_3": share_dropped,
    "dense_weight": lambda: list(dense().kernel.value.shape),
    "dense_bias": lambda: bool((dense().bias.value == 0).all()),
    "conv_weight": lambda: list(nnx.Conv(3, 2, (5, 4), rngs=random()).kernel.value.shape),
    "conv_bias": lambda: conv().bias is not None,
    "conv_output": lambda: list(conv()(jnp.ones((1, 5, 5, 1))).shape[1:3]),
    "max_pool_output": lambda: list(nnx.max_pool(jnp.ones((1, 4, 4, 1)), (2, 2)).shape[1:3]),
}
