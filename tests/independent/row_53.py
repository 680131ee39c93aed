"""Row 53: what lists the parameters of a net."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """The type of parameters(), the weights that are chosen by name, and those that a step moves."""
    import torch
    from torch import nn

    net = nn.Module()
    net.norm, net.fc = nn.BatchNorm1d(2), nn.Linear(2, 1)
    chosen = {name: each for name, each in net.named_parameters() if name.startswith("fc")}
    before = {name: each.detach().clone() for name, each in net.named_parameters()}
    optimizer = torch.optim.SGD(chosen.values(), 0.1)
    net.fc(net.norm(torch.tensor([[1.0, -2.0], [3.0, 0.5]]))).square().sum().backward()
    optimizer.step()
    moved = [name for name, each in net.named_parameters() if not each.equal(before[name])]
    return {
        "type": type(net.parameters()).__name__,
        "chosen": list(chosen),
        "moved": sorted(moved),
    }


def in_mindspore_tape() -> dict[str, Any]:
    """The types of trainable_params() and get_parameters(), the weights chosen, and those moved."""
    import mindspore as ms
    from mindspore import nn

    net = nn.Cell()
    net.norm, net.fc = nn.BatchNorm1d(2).set_train(), nn.Dense(2, 1)
    chosen = [each for each in net.trainable_params() if each.name.startswith("fc")]
    before = {each.name: each.asnumpy().copy() for each in net.trainable_params()}

    def loss(x: Any) -> Any:
        return (net.fc(net.norm(x)) ** 2).sum()

    optimizer = nn.SGD(chosen, 0.1)
    optimizer(ms.grad(loss, None, chosen)(ms.Tensor([[1.0, -2.0], [3.0, 0.5]])))
    moved = [
        each.name for each in net.trainable_params() if (each.asnumpy() != before[each.name]).any()
    ]
    return {
        "type": type(net.trainable_params()).__name__,
        "get_parameters": type(net.get_parameters()).__name__,
        "chosen": [each.name for each in chosen],
        "moved": sorted(moved),
    }
