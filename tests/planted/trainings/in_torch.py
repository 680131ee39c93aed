"""Runs a plan in PyTorch."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from explorer.model.arrays import AnyArray
from tests.planted.trainings.plan import CLASSES, HIDDEN, INPUTS, Arrays, Plan


class AdamWithEpsInside(torch.optim.Optimizer):  # type: ignore[misc]  # mypy skips torch
    """Somebody's own Adam."""

    def __init__(self, params: Any, lr: float, eps: float) -> None:
        super().__init__(params, {"lr": lr, "eps": eps, "betas": (0.9, 0.999)})

    @torch.no_grad()  # type: ignore[untyped-decorator]  # as above
    def step(self) -> None:
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for parameter in group["params"]:
                state = self.state[parameter]
                if not state:
                    state["step"] = torch.tensor(0.0)
                    state["exp_avg"] = torch.zeros_like(parameter)
                    state["exp_avg_sq"] = torch.zeros_like(parameter)
                state["step"] += 1
                count = state["step"].item()
                first, second = state["exp_avg"], state["exp_avg_sq"]
                first.mul_(beta1).add_(parameter.grad, alpha=1 - beta1)
                second.mul_(beta2).addcmul_(parameter.grad, parameter.grad, value=1 - beta2)
                root = (second / (1 - beta2**count) + group["eps"]).sqrt()
                parameter.sub_(group["lr"] / (1 - beta1**count) * first / root)


OWN = {"AdamWithEpsInside": AdamWithEpsInside}


def net_of(plan: Plan, start: Arrays) -> nn.Module:
    """The net with a start."""
    net = nn.Sequential(
        OrderedDict(
            fc1=nn.Linear(INPUTS, HIDDEN),
            norm=nn.BatchNorm1d(HIDDEN),
            tanh=nn.Tanh(),
            fc2=nn.Linear(HIDDEN, CLASSES),
        )
    )
    tensors = {name: torch.from_numpy(array.copy()) for name, array in start.items()}
    net.load_state_dict(tensors, strict=False)
    for name, parameter in net.named_parameters():
        parameter.requires_grad_(name not in plan.frozen)
    return net


def optimizer_of(plan: Plan, net: nn.Module) -> torch.optim.Optimizer:
    named = [(name, p) for name, p in net.named_parameters() if p.requires_grad]
    groups: list[dict[str, Any]] = [{"params": [p for n, p in named if n not in plan.undecayed]}]
    if plan.undecayed:
        plain = [p for n, p in named if n in plan.undecayed]
        groups.append({"params": plain, "weight_decay": 0.0})
    kind = OWN.get(plan.optimizer) or getattr(torch.optim, plan.optimizer)
    return kind(groups, lr=plan.rate(1), **plan.settings)


def prepared(plan: Plan, start: Arrays) -> tuple[Any, Callable[[int, AnyArray, AnyArray], None]]:
    """The net of a plan, and what makes a step of its training."""
    net = net_of(plan, start)
    optimizer = optimizer_of(plan, net)

    def step(number: int, x: AnyArray, y: AnyArray) -> None:
        for group in optimizer.param_groups:
            group["lr"] = plan.rate(number)
        optimizer.zero_grad()
        nn.functional.mse_loss(net(torch.from_numpy(x)), torch.from_numpy(y)).backward()
        optimizer.step()

    return net, step
