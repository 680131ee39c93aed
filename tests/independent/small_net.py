"""The net that is trained in the claims on training, in float64 and by PyTorch's functions alone.

A convolution from 1 to 2 channels (3×3), batch norm, relu and a dense layer from 8 to 1 on pictures of 4×4.
"""

from typing import Any

import numpy as np

SHAPES = {
    "conv.weight": (2, 1, 3, 3),
    "conv.bias": (2,),
    "norm.weight": (2,),
    "norm.bias": (2,),
    "norm.running_mean": (2,),
    "norm.running_var": (2,),
    "fc.weight": (1, 8),
    "fc.bias": (1,),
}
CONSTANT = {"norm.weight": 1.0, "norm.bias": 0.0, "norm.running_mean": 0.0, "norm.running_var": 1.0}
RUNNING = ("norm.running_mean", "norm.running_var")
EPSILON, MOMENTUM = 1e-5, 0.1


def start() -> dict[str, Any]:
    """The starting values: drawn between −½ and ½, but for batch norm's."""
    import torch

    generator = np.random.default_rng(0)
    values = {}
    for name, shape in SHAPES.items():
        drawn = generator.uniform(-0.5, 0.5, shape).astype(np.float32)
        if name in CONSTANT:
            drawn = np.full(shape, CONSTANT[name])
        is_trained = name not in RUNNING
        values[name] = torch.tensor(drawn, dtype=torch.float64, requires_grad=is_trained)
    return values


def batches(count: int, size: int) -> list[tuple[Any, Any]]:
    """Pictures and targets, drawn from N(0, 1)."""
    import torch

    generator = np.random.default_rng(1)
    pairs = []
    for _ in range(count):
        pictures = generator.normal(size=(size, 1, 4, 4)).astype(np.float32)
        targets = generator.normal(size=(size, 1)).astype(np.float32)
        pairs.append((torch.tensor(pictures).double(), torch.tensor(targets).double()))
    return pairs


def errors(values: dict[str, Any], pictures: Any, targets: Any, *, in_training: bool) -> Any:
    """The differences from the targets; in training, batch norm's running statistics move on."""
    import torch
    from torch.nn import functional

    maps = functional.conv2d(pictures, values["conv.weight"], values["conv.bias"])
    mean, variance = (values[name][:, None, None] for name in RUNNING)
    if in_training:
        axes = (0, 2, 3)
        mean = maps.mean(axes, keepdim=True)
        variance = maps.var(axes, correction=0, keepdim=True)
        with torch.no_grad():
            unbiased = maps.var(axes, correction=1)
            for name, seen in zip(RUNNING, (maps.mean(axes), unbiased), strict=True):
                values[name].mul_(1 - MOMENTUM).add_(MOMENTUM * seen)
    normal = (maps - mean) / torch.sqrt(variance + EPSILON)
    scaled = normal * values["norm.weight"][:, None, None] + values["norm.bias"][:, None, None]
    features = torch.relu(scaled).flatten(1)
    return functional.linear(features, values["fc.weight"], values["fc.bias"]) - targets


def trained(values: dict[str, Any]) -> dict[str, Any]:
    """The values that have a gradient."""
    return {name: value for name, value in values.items() if name not in RUNNING}
