"""The initial values of MindSpore's layers that declare weights of their own."""

from typing import Any

from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.in_mindspore import set_style
from explorer.topics.operators import inputs
from explorer.topics.operators.initial_values import bounds


def implicit_weights(ask: Ask) -> Found:
    """Bounds and moments of each parameter's initial values."""
    set_style("tape", ask.device)
    lstm = nn.LSTM(*inputs.LSTM)
    norms = {
        "batch norm": nn.BatchNorm2d(inputs.FEATURES),
        "layer norm": nn.LayerNorm((inputs.FEATURES,)),
        "group norm": nn.GroupNorm(inputs.GROUPS, inputs.FEATURES),
    }
    parameters: dict[str, Any] = {
        "conv weight": nn.Conv2d(*inputs.CONVOLUTION).weight,
        "dense weight": nn.Dense(*inputs.DENSE).weight,
        "embedding weight": nn.Embedding(*inputs.EMBEDDING).embedding_table,
        "lstm input weight": lstm.weight_ih_l0,
        "lstm hidden weight": lstm.weight_hh_l0,
        "lstm bias": lstm.bias_ih_l0,
    }
    for name, norm in norms.items():
        parameters[f"{name} scale"] = norm.gamma
        parameters[f"{name} shift"] = norm.beta
    return Found({name: bounds(value.asnumpy()) for name, value in parameters.items()})
