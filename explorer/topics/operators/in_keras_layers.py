"""What TensorFlow's layers do when little is said, measured on Keras: dropout, norms, GELU, cross
entropy, axes.
"""

import inspect
from typing import Any

import numpy as np
import torch

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.operators.data import (
    AXES,
    BATCH,
    BETA,
    COTANGENT,
    GAMMA,
    LABELS,
    LOGITS,
    MEAN,
    MOMENTA,
    POINTS,
    SMALL_PAIR,
    VARIANCE,
)
from explorer.topics.operators.in_keras import array, keras

ELEMENTS = 20_000
STARTS = (GAMMA, BETA, MEAN, VARIANCE)


def dropout_settings(ask: Ask) -> Found:
    """The share of ones that survive each way to ask for dropout, what a survivor becomes, and what
    inference makes of it.
    """
    layers = keras().layers
    figures: dict[str, Any] = {
        "rate=0.3": attempt_briefly(_survival, layers, rate=0.3),
        "keep_prob=0.7": attempt_briefly(_survival, layers, keep_prob=0.7),
        "0.3 alone": attempt_briefly(_survival, layers, 0.3),
        "no argument": attempt_briefly(_survival, layers),
    }
    return Found(figures | {"parameters": list(inspect.signature(layers.Dropout).parameters)})


def _survival(layers: Any, *arguments: float, **options: Any) -> dict[str, Any]:
    layer = layers.Dropout(*arguments, **options)
    ones = np.ones(ELEMENTS, np.float32)
    made = array(layer(ones, training=True))
    still = bool((array(layer(ones, training=False)) == 1).all())
    return {
        "kept": float((made != 0).mean()),
        "survivor": float(made.max()),
        "inference_is_identity": still,
    }


def batch_norm_states(ask: Ask) -> Found:
    """Output, running statistics afterwards and gradient by the input, in training and inference,
    trainable and frozen.
    """
    layers = keras().layers
    return Found(
        {
            f"trainable={trainable}, {'training' if training else 'inference'}": _state(
                layers, trainable, training
            )
            for trainable in (True, False)
            for training in (True, False)
        }
    )


def _state(layers: Any, trainable: bool, training: bool) -> dict[str, Any]:
    layer, given = (
        _batch_norm(layers, trainable=trainable, epsilon=1e-5),
        torch.tensor(BATCH, requires_grad=True),
    )
    output = layer(given, training=training)
    (by_input,) = torch.autograd.grad((output * torch.tensor(COTANGENT)).sum(), given)
    running = [array(layer.moving_mean).tolist(), array(layer.moving_variance).tolist()]
    return {"output": array(output).tolist(), "running": running, "gradients": [by_input.tolist()]}


def batch_norm_momentum(ask: Ask) -> Found:
    """Running mean and variance after one training step, for some momenta and for the default."""
    layers = keras().layers
    figures = {str(momentum): _after_one_step(layers, momentum=momentum) for momentum in MOMENTA}
    return Found(figures | {"default": _after_one_step(layers)})


def _batch_norm(layers: Any, **options: Any) -> Any:
    layer = layers.BatchNormalization(axis=1, **options)
    layer.build(BATCH.shape)
    for variable, start in zip(
        (layer.gamma, layer.beta, layer.moving_mean, layer.moving_variance), STARTS, strict=True
    ):
        variable.assign(start)
    return layer


def _after_one_step(layers: Any, **options: Any) -> list[Any]:
    layer = _batch_norm(layers, **options)
    layer(BATCH, training=True)
    return [array(layer.moving_mean).tolist(), array(layer.moving_variance).tolist()]


def layer_norm_of_a_small_pair(ask: Ask) -> Found:
    """Layer norm of (-0.001, 0.001), whose output shows the epsilon; and batch norm at inference of
    1, with variance 0.
    """
    layers = keras().layers
    norm = layers.BatchNormalization(axis=1, moving_variance_initializer="zeros")
    made = array(norm(BATCH * 0 + 1, training=False))
    return Found(
        {
            "layer norm": array(layers.LayerNormalization()(SMALL_PAIR)).tolist()[0],
            "batch norm of 1": float(made[0, 0, 0, 0]),
        }
    )


def gelu(ask: Ask) -> Found:
    """Each GELU at points from -4 to 4."""
    activations = keras().activations
    ways = {"activations.gelu": {}, "activations.gelu(approximate=True)": {"approximate": True}}
    return Found(
        {
            name: {"value": array(activations.gelu(POINTS, **options)).tolist()}
            for name, options in ways.items()
        }
    )


def cross_entropy(ask: Ask) -> Found:
    """Softmax cross entropy of two rows of logits and their labels by each way to ask for it."""
    losses = keras().losses
    ways: dict[str, Any] = {
        "SparseCategoricalCrossentropy()": losses.SparseCategoricalCrossentropy(),
        "SparseCategoricalCrossentropy(from_logits=True)": losses.SparseCategoricalCrossentropy(
            from_logits=True
        ),
    }
    return Found(
        {name: {"value": float(array(loss(LABELS, LOGITS)))} for name, loss in ways.items()}
    )


def axes(ask: Ask) -> Found:
    """Shape and elements of a (1, 2, 3, 4) tensor after each call."""
    ops = keras().ops
    calls: dict[str, Any] = {
        "ops.transpose(x, (3, 2, 1, 0))": lambda: ops.transpose(AXES, (3, 2, 1, 0)),
        "ops.transpose(x, 0, 3)": lambda: ops.transpose(AXES, 0, 3),
        "ops.swapaxes(x, 0, 3)": lambda: ops.swapaxes(AXES, 0, 3),
    }
    return Found({name: attempt_briefly(_moved, call) for name, call in calls.items()})


def _moved(call: Any) -> dict[str, Any]:
    made = array(call())
    return {"shape": made.shape, "elements": np.ravel(made).tolist()}
