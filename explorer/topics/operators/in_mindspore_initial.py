"""What MindSpore's layers start from when nothing is said."""

import mindspore as ms
import numpy as np
from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.in_mindspore import set_style
from explorer.topics.operators.initial import CONVOLUTION, DENSE, LAYERS, described


def initial_values(ask: Ask) -> Found:
    """The default weights and biases of many convolutions and dense layers, and the biases that
    they have without being asked.
    """
    set_style("tape", ask.device)
    ms.set_seed(0)
    channels, filters, kernel = CONVOLUTION
    layers = {
        "convolution": [nn.Conv2d(channels, filters, kernel, has_bias=True) for _ in range(LAYERS)],
        "dense": [nn.Dense(*DENSE) for _ in range(LAYERS)],
    }
    figures = {
        f"{kind} {name}": described(
            np.concatenate([getattr(layer, name).asnumpy().ravel() for layer in made]), kind
        )
        for kind, made in layers.items()
        for name in ("weight", "bias")
    }
    has_bias = {
        "convolution": bool(nn.Conv2d(1, 1, 1).has_bias),
        "dense": bool(nn.Dense(1, 1).has_bias),
    }
    return Found(
        figures
        | {
            "has_bias": has_bias,
            "embedding std": float(nn.Embedding(100, 50).embedding_table.asnumpy().std()),
        }
    )
