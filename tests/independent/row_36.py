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
        "kinds": [
            name
            for name, home in (("Tensor", torch), ("Parameter", nn), ("Buffer", nn))
            if hasattr(home, name)
        ],
        "Variable": type(torch.autograd.Variable(torch.ones(1))).__name__,
        "buffers": [name for name, _ in nn.BatchNorm1d(2).named_buffers()],
        "has a gradient": {name: value.grad is not None for name, value in net.named_parameters()},
    }


def in_mindspore_tape() -> dict[str, Any]:
    """The weights that stay trainable when one is frozen, whether a Cell has buffers; kinds of data."""
    import mindspore as ms
    from mindspore import nn

    net = nn.Dense(2, 2)
    net.weight.requires_grad = False
    wanted = ("register_buffer", "named_buffers")
    kinds = ("Tensor", "Variable", "Parameter")
    methods = ("requires_grad_", "requires_grad", "backward", "grad")
    return {
        "kinds": [name for name in kinds if hasattr(ms, name)],
        "of a tensor": [name for name in methods if hasattr(ms.Tensor, name)],
        "trainable": [weight.name for weight in net.trainable_params()],
        "buffers": [name for name in wanted if hasattr(net, name)],
    }
