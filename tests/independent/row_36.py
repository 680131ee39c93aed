"""Row 36: the kinds of data object."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """What a Variable is, the buffers of batch norm, and what is trained when a weight is frozen."""
    import torch
    from torch import nn

    net = nn.Linear(2, 2)
    net.weight.requires_grad = False
    net(torch.ones(1, 2)).sum().backward()
    return {
        "Variable": type(torch.autograd.Variable(torch.ones(1))).__name__,
        "buffers": [name for name, _ in nn.BatchNorm1d(2).named_buffers()],
        "has a gradient": {name: value.grad is not None for name, value in net.named_parameters()},
    }


def in_mindspore_tape() -> dict[str, Any]:
    """The weights that stay trainable when one is frozen, and whether a Cell has buffers."""
    from mindspore import nn

    net = nn.Dense(2, 2)
    net.weight.requires_grad = False
    wanted = ("register_buffer", "named_buffers")
    return {
        "trainable": [weight.name for weight in net.trainable_params()],
        "buffers": [name for name in wanted if hasattr(net, name)],
    }
