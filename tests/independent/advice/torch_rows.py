"""The advice on claims that is about PyTorch."""

from typing import Any

import numpy as np
import torch
from torch import nn

from tests.independent.advice.checks import close

X = torch.tensor([[1.0, -2.0], [-0.5, 3.0], [2.0, 1.0]])


def leaf(values: Any = X) -> Any:
    """A tensor that requires a gradient."""
    return torch.as_tensor(values).clone().requires_grad_()


def row_29() -> None:
    """The leaf under a name of its own has its gradient: 2 · 2x."""
    x = leaf()
    doubled = x * 2
    (doubled - 1).backward(doubled.detach())
    close(x.grad, 4 * X)


def row_31() -> None:
    """A clone cut off at the second position leaves the gradient of the first; without, both add up."""
    x, square = leaf(), leaf()
    (x * x.detach().clone()).sum().backward()
    close(x.grad, X)
    (square * square).sum().backward()
    close(square.grad, 2 * X)


def row_32() -> None:
    """After eval() dropout keeps all, and batch norm its statistics."""
    net = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout(0.5)).eval()
    close(net(X), X / np.sqrt(1 + 1e-5))
    close(net[0].running_mean, [0, 0])


def row_34() -> None:
    layers = [nn.Linear(2, 2), nn.Linear(2, 1)]
    for kept in (nn.ModuleList(layers), nn.Sequential(*layers)):
        assert len(list(kept.parameters())) == 4


def row_38() -> None:
    close(leaf().detach().cpu().numpy(), X)


def row_40() -> None:
    norm = nn.BatchNorm1d(2).eval()
    nn.init.constant_(norm.weight, -2.0)
    close(norm(X), -2 * X / np.sqrt(1 + 1e-5))


def row_42() -> None:
    """At inference track_running_stats=False takes the batch."""
    norm = nn.BatchNorm1d(2, track_running_stats=False).eval()
    close(norm(X), (X - X.mean(0)) / torch.sqrt(X.var(0, correction=0) + 1e-5))


NINE = torch.arange(9.0).reshape(1, 1, 3, 3)


def row_45() -> None:
    """ceil_mode=True gives the figures, right for negative numbers too."""
    pool = nn.MaxPool2d(2, 2, ceil_mode=True)
    close(pool(NINE), [[[[4, 5], [7, 8]]]])
    x = leaf(-NINE)
    pool(x).sum().backward()
    close(x.grad, [[[[1, 0, 1], [0, 0, 0], [1, 0, 1]]]])


def row_53() -> None:
    """A list of parameters can be gone through twice, as a generator cannot."""
    net = nn.Sequential(nn.Conv1d(1, 1, 1), nn.Linear(2, 1))
    chosen = [parameter for name, parameter in net.named_parameters() if name.startswith("1.")]
    assert len(chosen) == 2
    listed = list(net.parameters())
    assert [id(each) for each in listed] == [id(each) for each in listed]
    assert len(listed) == 4


def _rates(make: Any, steps: int) -> list[float]:
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], 0.1)
    scheduler = make(optimizer)
    rates = []
    for _ in range(steps):
        rates.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    return rates


def row_56() -> None:
    """The schedulers that are named have MindSpore's rates, by its formulas."""
    steps, schedulers = np.arange(10), torch.optim.lr_scheduler
    for make, right in (
        (lambda each: schedulers.ExponentialLR(each, 0.9), 0.1 * 0.9**steps),
        (
            lambda each: schedulers.ExponentialLR(each, float(np.exp(-0.9))),
            0.1 * np.exp(-0.9 * steps),
        ),
        (
            lambda each: schedulers.LambdaLR(each, lambda at: 1 / (1 + 0.5 * at)),
            0.1 / (1 + 0.5 * steps),
        ),
        (lambda each: schedulers.PolynomialLR(each, 10, 0.5), 0.1 * (1 - steps / 10) ** 0.5),
        (
            lambda each: schedulers.CosineAnnealingLR(each, 10, 0.01),
            0.01 + 0.045 * (1 + np.cos(np.pi * steps / 10)),
        ),
    ):
        close(_rates(make, 10), right)


def row_57() -> None:
    """A group without decay for what nn spares; AdamW with its decay set to 0 takes Adam's step."""
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    spared = list(net[1].parameters())
    groups = [{"params": net[0].parameters()}, {"params": spared, "weight_decay": 0.0}]
    optimizer = torch.optim.SGD(groups, 0.1, weight_decay=0.5)
    before = [each.detach().clone() for each in net.parameters()]
    for each in net.parameters():
        each.grad = torch.zeros_like(each)
    optimizer.step()
    close(spared[0], before[2])
    close(net[0].weight, before[0] * (1 - 0.05))

    weights = []
    for kind, settings in ((torch.optim.AdamW, {"weight_decay": 0.0}), (torch.optim.Adam, {})):
        weight = leaf()
        weight.grad = -X
        kind([weight], 0.1, **settings).step()
        weights.append(weight)
    close(weights[0], weights[1])


def row_64() -> None:
    """Adagrad and Adam take the steps of ProximalAdagrad and AdamOffload, by their formulas."""
    adagrad = X - 0.1 * X / torch.sqrt(0.1 + X**2)
    for kind, settings, right in (
        (torch.optim.Adagrad, {"initial_accumulator_value": 0.1}, adagrad),
        (torch.optim.Adam, {}, X - 0.1 * X.sign()),
    ):
        weight = leaf()
        weight.grad = X.clone()
        kind([weight], 0.1, **settings).step()
        close(weight, right, 1e-4)


def row_66() -> None:
    """The gradient divided by hand: the step of the loss without its scale."""
    weight = leaf()
    (4 * (weight**3).sum()).backward()
    weight.grad /= 4
    torch.optim.SGD([weight], 0.1).step()
    close(weight, X - 0.3 * X**2)


def row_68() -> None:
    class Net(nn.Module):  # type: ignore[misc]  # not checked, see pyproject.toml
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.fc = nn.Conv1d(1, 1, 1), nn.Linear(2, 1)

    names = [name for name, _ in Net().named_parameters() if "conv" not in name]
    assert names == ["fc.weight", "fc.bias"]


def row_71() -> None:
    """What requires no gradient gets none, in evaluation without tracked statistics too."""
    norm = nn.BatchNorm1d(2, track_running_stats=False).eval()
    norm.weight.requires_grad_(False)
    norm.bias.requires_grad_(False)
    x = leaf()
    (norm(x) ** 3).sum().backward()
    assert norm.weight.grad is None
    assert norm.bias.grad is None
    assert x.grad.abs().max() > 0


def row_93() -> None:
    """LBFGS with one rate for all weights finds the minimum, and takes no groups."""
    first, second = leaf([3.0]), leaf([-4.0])
    optimizer = torch.optim.LBFGS([first, second], 1.0)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((first - 1) ** 2 + (second + 2) ** 2).sum()
        loss.backward()
        return loss

    for _ in range(5):
        optimizer.step(closure)
    close([float(first.detach()), float(second.detach())], [1, -2], 1e-4)
