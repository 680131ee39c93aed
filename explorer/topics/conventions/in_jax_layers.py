"""What the layers of Flax (nnx), a library on JAX, are made with where nothing is said."""

import importlib
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from explorer.model.measurement import Ask, Found
from explorer.topics.conventions.inputs import BATCH
from explorer.topics.in_jax import attempt_in_a_sentence


def layers(ask: Ask) -> Found:
    """The settings of layers, and what small ones give; raises ImportError where there is no Flax."""
    nnx()
    return Found({name: attempt_in_a_sentence(layer) for name, layer in LAYERS.items()})


def nnx() -> Any:
    """The module `flax.nnx`, which an environment with JAX may lack."""
    return importlib.import_module("flax.nnx")


def made(layer: str, *sizes: Any) -> Any:
    """A layer of a name, with random numbers from the seed 0."""
    return getattr(nnx(), layer)(*sizes, rngs=nnx().Rngs(0))


def after_a_batch() -> Any:
    """Batch norm that has seen one batch."""
    norm = made("BatchNorm", 2)
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
    return round(float((made("Dropout", 0.3)(jnp.ones(10_000)) == 0).mean()), 1)


def dense() -> Any:
    """A layer from three features to two."""
    return made("Linear", 3, 2)


def conv() -> Any:
    """A convolution of three by three, of one channel."""
    return made("Conv", 1, 1, (3, 3))


LAYERS: dict[str, Callable[[], Any]] = {
    "layer_norm_epsilon": lambda: made("LayerNorm", 2).epsilon,
    "batch_norm_epsilon": lambda: made("BatchNorm", 2).epsilon,
    "group_norm_epsilon": lambda: made("GroupNorm", 2, 1).epsilon,
    "batch_norm_weight_of_batch": weight_of_batch,
    "batch_norm_variance": variance_of_batch,
    "starts_in_training": lambda: not made("BatchNorm", 2).use_running_average,
    "dropout_of_0_3": share_dropped,
    "dense_weight": lambda: list(dense().kernel.value.shape),
    "dense_bias": lambda: bool((dense().bias.value == 0).all()),
    "conv_weight": lambda: list(made("Conv", 3, 2, (5, 4)).kernel.value.shape),
    "conv_bias": lambda: conv().bias is not None,
    "conv_output": lambda: list(conv()(jnp.ones((1, 5, 5, 1))).shape[1:3]),
    "max_pool_output": lambda: list(nnx().max_pool(jnp.ones((1, 4, 4, 1)), (2, 2)).shape[1:3]),
}
