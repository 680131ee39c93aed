"""PyTorch's layers' weights: where they start, and whether evaluation learns them."""

from typing import Any

import torch
from torch import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.in_torch import numbers
from explorer.topics.operators import inputs
from explorer.topics.operators.in_torch_styles import placed
from explorer.topics.operators.initial_values import bounds


@placed
def implicit_weights(ask: Ask) -> Found:
    """Bounds and moments of each parameter's initial values."""
    torch.manual_seed(0)
    lstm = nn.LSTM(*inputs.LSTM)
    norms = {
        "batch norm": nn.BatchNorm2d(inputs.FEATURES),
        "layer norm": nn.LayerNorm(inputs.FEATURES),
        "group norm": nn.GroupNorm(inputs.GROUPS, inputs.FEATURES),
    }
    parameters: dict[str, Any] = {
        "conv weight": nn.Conv2d(*inputs.CONVOLUTION).weight,
        "dense weight": nn.Linear(*inputs.DENSE).weight,
        "embedding weight": nn.Embedding(*inputs.EMBEDDING).weight,
        "lstm input weight": lstm.weight_ih_l0,
        "lstm hidden weight": lstm.weight_hh_l0,
        "lstm bias": lstm.bias_ih_l0,
    }
    for name, norm in norms.items():
        parameters[f"{name} scale"] = norm.weight
        parameters[f"{name} shift"] = norm.bias
    figures = {}
    for name, value in parameters.items():
        figures[name] = bounds(value.detach().cpu().numpy())
    return Found(figures)


@placed
def evaluated_batch_norm(ask: Ask) -> Found:
    """Scale and shift before and after a step, with track_running_stats=False, by mode.

    Beside them the layer's output, and whether there is a running mean.
    """
    return Found({"evaluation": after_step(False), "training": after_step(True)})


def after_step(training: bool) -> dict[str, Any]:
    """What one step of SGD leaves of a batch norm in a mode."""
    layer = nn.BatchNorm2d(2, track_running_stats=False).train(training)
    before = numbers(tuple(layer.parameters()))
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    output = layer(torch.tensor(inputs.BATCH))
    (output * torch.tensor(inputs.COTANGENT)).sum().backward()
    optimizer.step()
    return {
        "before": before,
        "after": numbers(tuple(layer.parameters())),
        "output": numbers(output),
        "running mean": numbers(layer.running_mean),
    }
