"""What PyTorch's layers start from when nothing is said."""

import numpy as np
import torch
from torch import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.operators.in_torch_styles import placed
from explorer.topics.operators.initial import CONVOLUTION, DENSE, LAYERS, described


@placed
def initial_values(ask: Ask) -> Found:
    """The default weights and biases of many convolutions and dense layers, and the biases that
    they have without being asked.
    """
    torch.manual_seed(0)
    channels, filters, kernel = CONVOLUTION
    layers: dict[str, list[nn.Module]] = {
        "convolution": [nn.Conv2d(channels, filters, kernel) for _ in range(LAYERS)],
        "dense": [nn.Linear(*DENSE) for _ in range(LAYERS)],
    }
    figures = {
        f"{kind} {name}": described(
            np.concatenate([getattr(layer, name).detach().cpu().numpy().ravel() for layer in made]),
            kind,
        )
        for kind, made in layers.items()
        for name in ("weight", "bias")
    }
    has_bias = {kind: made[0].bias is not None for kind, made in layers.items()}
    return Found(
        figures
        | {
            "has_bias": has_bias,
            "embedding std": float(nn.Embedding(100, 50).weight.detach().cpu().numpy().std()),
        }
    )
