"""What TensorFlow's layers start from when nothing is said, measured on Keras."""

from typing import Any

import numpy as np

from explorer.model.measurement import Ask, Found
from explorer.topics.operators.in_keras import array, keras
from explorer.topics.operators.initial import CONVOLUTION, DENSE, LAYERS, described


def initial_values(ask: Ask) -> Found:
    """The default weights and biases of many convolutions and dense layers, and the biases that
    they have without being asked.
    """
    layers = keras().layers
    channels, filters, kernel = CONVOLUTION
    made: dict[str, list[Any]] = {
        "convolution": [layers.Conv2D(filters, kernel) for _ in range(LAYERS)],
        "dense": [layers.Dense(DENSE[1]) for _ in range(LAYERS)],
    }
    for layer in made["convolution"]:
        layer.build((None, 8, 8, channels))
    for layer in made["dense"]:
        layer.build((None, DENSE[0]))
    figures = {
        f"{kind} {name}": described(
            np.concatenate([array(getattr(layer, attribute)).ravel() for layer in each]), kind
        )
        for kind, each in made.items()
        for name, attribute in (("weight", "kernel"), ("bias", "bias"))
    }
    has_bias = {kind: each[0].bias is not None for kind, each in made.items()}
    table = layers.Embedding(100, 50)
    table.build(None)
    return Found(
        figures | {"has_bias": has_bias, "embedding std": float(array(table.embeddings).std())}
    )
