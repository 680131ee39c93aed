"""Keras layers, for TensorFlow's conventions: their defaults, and what their settings mean."""

import inspect
from typing import Any

import numpy as np
import torch

from explorer.model.measurement import Ask, Figures, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.operators import inputs
from explorer.topics.operators.in_keras import array, keras
from explorer.topics.operators.initial_values import described
from explorer.topics.operators.readings import survival


def dropout_settings(ask: Ask) -> Found:
    """The share of ones that survive each way to ask for dropout, and dropout at inference."""
    layers = keras().layers
    figures: Figures = {
        "rate=0.3": attempt_briefly(_survival, layers, rate=0.3),
        "keep_prob=0.7": attempt_briefly(_survival, layers, keep_prob=0.7),
        "0.3 alone": attempt_briefly(_survival, layers, 0.3),
        "no argument": attempt_briefly(_survival, layers),
    }
    return Found(figures | {"parameters": list(inspect.signature(layers.Dropout).parameters)})


def _survival(layers: Any, *arguments: float, **options: float) -> Figures:
    layer = layers.Dropout(*arguments, **options)
    ones = np.ones(inputs.ONES, np.float32)
    return survival(array(layer(ones, training=True)), array(layer(ones, training=False)))


def batch_norm_states(ask: Ask) -> Found:
    """Output, running statistics and input gradient of batch norm, by mode and by trainability.

    The running statistics are those after the call.
    """
    layers = keras().layers
    figures: Figures = {}
    for trainable in (True, False):
        for mode in ("training", "inference"):
            # With the frameworks' epsilon: Keras' own of 1e-3 would be a difference of its own.
            layer = _batch_norm(layers, trainable=trainable, epsilon=1e-5)
            figures[f"trainable={trainable}, {mode}"] = _batch_norm_state(layer, mode)
    return Found(figures)


def _batch_norm(layers: Any, **options: Any) -> Any:
    layer = layers.BatchNormalization(axis=1, **options)  # channels last by default
    layer.build(inputs.BATCH.shape)
    layer.gamma.assign(inputs.GAMMA)
    layer.beta.assign(inputs.BETA)
    layer.moving_mean.assign(inputs.MEAN)
    layer.moving_variance.assign(inputs.VARIANCE)
    return layer


def _batch_norm_state(layer: Any, mode: str) -> Figures:
    batch = torch.tensor(inputs.BATCH, requires_grad=True)
    output = layer(batch, training=mode == "training")
    loss = (output * torch.tensor(inputs.COTANGENT)).sum()
    (input_gradient,) = torch.autograd.grad(loss, batch)
    return {
        "output": array(output).tolist(),
        "running": _running_statistics(layer),
        "gradients": [input_gradient.tolist()],
    }


def _running_statistics(layer: Any) -> list[Any]:
    return [array(layer.moving_mean).tolist(), array(layer.moving_variance).tolist()]


def batch_norm_momentum(ask: Ask) -> Found:
    """Running mean and variance after one training step, for some momenta and for the default."""
    layers = keras().layers
    figures = {
        str(momentum): _after_one_step(layers, momentum=momentum) for momentum in inputs.MOMENTA
    }
    return Found({**figures, "default": _after_one_step(layers)})


def _after_one_step(layers: Any, **options: Any) -> list[Any]:
    layer = _batch_norm(layers, **options)
    layer(inputs.BATCH, training=True)
    return _running_statistics(layer)


def initial_values(ask: Ask) -> Found:
    """The default weights and biases of many layers, and which layers have a bias by default.

    The layers are convolutions and dense ones; of an embedding there is the standard deviation.
    """
    layers = keras().layers
    channels, filters, kernel = inputs.CONVOLUTION
    # A layer has no weights until it is built for a shape of input.
    convolutions = [layers.Conv2D(filters, kernel) for _ in range(inputs.LAYERS)]
    for layer in convolutions:
        layer.build((None, 8, 8, channels))
    dense_layers = [layers.Dense(inputs.DENSE[1]) for _ in range(inputs.LAYERS)]
    for layer in dense_layers:
        layer.build((None, inputs.DENSE[0]))

    figures: Figures = {}
    for kind, same_layers in (("convolution", convolutions), ("dense", dense_layers)):
        figures[f"{kind} weight"] = described(kind, [array(layer.kernel) for layer in same_layers])
        figures[f"{kind} bias"] = described(kind, [array(layer.bias) for layer in same_layers])
    figures["has_bias"] = {
        "convolution": convolutions[0].bias is not None,
        "dense": dense_layers[0].bias is not None,
    }
    embedding = layers.Embedding(*inputs.EMBEDDING)
    embedding.build(None)
    figures["embedding std"] = float(array(embedding.embeddings).std())
    return Found(figures)


def epsilons(ask: Ask) -> Found:
    """Outputs that show an epsilon: layer norm of (-0.001, 0.001), and batch norm of 1.

    Batch norm is at inference, with a running variance of 0.
    """
    layers = keras().layers
    batch_norm = layers.BatchNormalization(axis=1, moving_variance_initializer="zeros")
    ones = array(batch_norm(inputs.BATCH * 0 + 1, training=False))
    return Found(
        {
            "layer norm": array(layers.LayerNormalization()(inputs.SMALL_PAIR)).tolist()[0],
            "batch norm of 1": float(ones[0, 0, 0, 0]),
        }
    )


def gelu(ask: Ask) -> Found:
    """Each GELU at points from -4 to 4."""
    function = keras().activations.gelu
    curves = {
        "activations.gelu": function(inputs.POINTS),
        "activations.gelu(approximate=True)": function(inputs.POINTS, approximate=True),
    }
    return Found({name: {"value": array(curve).tolist()} for name, curve in curves.items()})


def cross_entropy(ask: Ask) -> Found:
    """Softmax cross entropy of two rows of logits and their labels by each way to ask for it."""
    loss = keras().losses.SparseCategoricalCrossentropy
    values = {
        "SparseCategoricalCrossentropy()": loss()(inputs.LABELS, inputs.LOGITS),
        "SparseCategoricalCrossentropy(from_logits=True)": loss(from_logits=True)(
            inputs.LABELS, inputs.LOGITS
        ),
    }
    return Found({name: {"value": float(array(value))} for name, value in values.items()})
