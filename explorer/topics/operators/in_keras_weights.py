"""The initial values of Keras' layers that declare weights of their own."""

from typing import Any

from explorer.model.measurement import Ask, Found
from explorer.topics.operators import inputs
from explorer.topics.operators.in_keras import array, keras
from explorer.topics.operators.initial_values import bounds


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
