"""Keras's layers, shapes and weights: what they are given by default, and what they give."""

import importlib
import inspect
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from explorer.model.measurement import Ask, Figures, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.operators import inputs
from explorer.topics.operators.inputs import AXES, IMAGES, WINDOWS, Window
from explorer.topics.operators.readings import bounds, described, survival, zeros_around


def keras() -> Any:
    """The module `keras`, with its random numbers started anew.

    Its settings file goes into the worker's scratch folder.
    """
    os.environ["KERAS_BACKEND"] = "torch"
    os.environ["KERAS_HOME"] = os.path.join(os.getcwd(), "keras")
    module = importlib.import_module("keras")
    module.utils.set_random_seed(0)
    return module


def array(value: Any) -> Any:
    """The numpy array of a tensor or variable."""
    tensor = getattr(value, "value", value)
    return tensor.detach().cpu().numpy() if isinstance(tensor, torch.Tensor) else np.asarray(tensor)


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


def axes(ask: Ask) -> Found:
    """Shape and elements of a (1, 2, 3, 4) tensor after each call."""
    ops = keras().ops
    calls: dict[str, Callable[[], Any]] = {
        "ops.transpose(x, (3, 2, 1, 0))": lambda: ops.transpose(AXES, (3, 2, 1, 0)),
        "ops.transpose(x, 0, 3)": lambda: ops.transpose(AXES, 0, 3),
        "ops.swapaxes(x, 0, 3)": lambda: ops.swapaxes(AXES, 0, 3),
    }
    return Found({name: attempt_briefly(_transposed, call) for name, call in calls.items()})


def _transposed(call: Callable[[], Any]) -> Figures:
    transposed = array(call())
    return {"shape": transposed.shape, "elements": transposed.ravel().tolist()}


def max_pool_of_nine(ask: Ask) -> Found:
    """Max pooling of a 3 x 3 image, windows of 2 and stride 2, by each way to pad.

    The numbers are 0 to 8, and −1 to −9.
    """
    layers = keras().layers
    figures: Figures = {}
    for begins, image in IMAGES.items():
        # Channels are last.
        for name, way in _ways_to_pool(layers, image.reshape(1, 3, 3, 1)).items():
            figures[begins + name] = attempt_briefly(_pooled, way)
    return Found(figures)


def _ways_to_pool(layers: Any, image: Any) -> dict[str, Callable[[], Any]]:
    valid = layers.MaxPooling2D(2, 2, padding="valid")
    top_left = layers.ZeroPadding2D(((1, 0), (1, 0)))
    bottom_right = layers.ZeroPadding2D(((0, 1), (0, 1)))
    return {
        "same": lambda: layers.MaxPooling2D(2, 2, padding="same")(image),
        "valid": lambda: valid(image),
        "zeros top and left, then valid": lambda: valid(top_left(image)),
        "zeros bottom and right, then valid": lambda: valid(bottom_right(image)),
        "padding=1": lambda: layers.MaxPooling2D(2, 2, padding=1)(image),
        "default": lambda: layers.MaxPooling2D(2, 2)(image),
    }


def _pooled(way: Callable[[], Any]) -> Any:
    return array(way())[0, :, :, 0].tolist()


def convolution_sides(ask: Ask) -> Found:
    """The zeros that "same" puts before and after an axis, for many windows."""
    ops = keras().ops
    return Found({name: _sides(ops, window) for name, window in WINDOWS.items()})


def _sides(ops: Any, window: Window) -> list[int]:
    """Read off a kernel that copies the first element of its window."""
    first = np.zeros((window.kernel, 1, 1), np.float32)
    first[0] = 1
    line = np.arange(1, window.size + 1, dtype=np.float32).reshape(1, window.size, 1)
    outputs = array(ops.conv(line, first, strides=window.stride, padding="same"))
    return zeros_around(outputs.ravel(), window)


def valid_sizes(ask: Ask) -> Found:
    """Output sizes of convolution and pooling without padding, for many windows."""
    ops = keras().ops
    return Found({name: _valid(ops, window) for name, window in WINDOWS.items()})


def _valid(ops: Any, window: Window) -> list[int]:
    size, kernel, stride = window
    line = np.ones((1, size, 1), np.float32)
    weight = np.ones((kernel, 1, 1), np.float32)
    outputs = (
        ops.conv(line, weight, strides=stride, padding="valid"),
        ops.max_pool(line, kernel, strides=stride, padding="valid"),
        ops.average_pool(line, kernel, strides=stride, padding="valid"),
    )
    return [int(output.shape[1]) for output in outputs]


def convolution_default(ask: Ask) -> Found:
    """The shape that a 3 x 3 convolution gives a 5 x 5 image by default, and if it has a bias."""
    layer = keras().layers.Conv2D(1, 3)
    output = layer(np.ones((1, 5, 5, 1), np.float32))
    return Found({"shape": list(output.shape[1:3]), "has_bias": layer.bias is not None})


def implicit_weights(ask: Ask) -> Found:
    """Bounds and moments of each parameter's initial values."""
    layers = keras().layers
    channels, filters, kernel = inputs.CONVOLUTION
    convolution, dense = layers.Conv2D(filters, kernel), layers.Dense(inputs.DENSE[1])
    embedding, lstm = layers.Embedding(*inputs.EMBEDDING), layers.LSTM(inputs.LSTM[1])
    norms = {
        "batch norm": layers.BatchNormalization(),
        "layer norm": layers.LayerNormalization(),
        "group norm": layers.GroupNormalization(inputs.GROUPS),
    }
    # A layer has no weights until it is built for a shape of input.
    convolution.build((None, 8, 8, channels))
    dense.build((None, inputs.DENSE[0]))
    embedding.build(None)
    lstm.build((None, 1, inputs.LSTM[0]))
    parameters: dict[str, Any] = {
        "conv weight": convolution.kernel,
        "dense weight": dense.kernel,
        "embedding weight": embedding.embeddings,
        "lstm input weight": lstm.cell.kernel,
        "lstm hidden weight": lstm.cell.recurrent_kernel,
        "lstm bias": lstm.cell.bias,
    }
    for name, norm in norms.items():
        norm.build((None, inputs.FEATURES))
        parameters[f"{name} scale"] = norm.gamma
        parameters[f"{name} shift"] = norm.beta
    return Found({name: bounds(array(value)) for name, value in parameters.items()})
