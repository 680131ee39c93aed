"""Runs a plan in PyTorch, and records it."""

from collections import OrderedDict
from typing import Any

import numpy as np
import torch
from torch import nn

from explorer.model.training import Batch, Training, TrainingStep
from tests.planted.trainings.plan import (
    BUFFERS,
    CLASSES,
    HIDDEN,
    INPUTS,
    TRAINED,
    Arrays,
    Plan,
    batches_of,
    groups_of,
    leaves,
    parts_of,
    starts,
    with_drift,
)


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


def trained(plan: Plan) -> Training:
    """The record of a training, with its drift."""
    return with_drift(plan, _run)


def _net(plan: Plan, start: Arrays) -> nn.Module:
    net = nn.Sequential(
        OrderedDict(
            fc1=nn.Linear(INPUTS, HIDDEN),
            norm=nn.BatchNorm1d(HIDDEN, plan.norm_eps, plan.norm_momentum),
            relu=nn.Tanh(),
            fc2=nn.Linear(HIDDEN, CLASSES),
        )
    )
    net.load_state_dict(
        {name: torch.from_numpy(array.copy()) for name, array in start.items()}, strict=False
    )
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


def _run(plan: Plan, start: Arrays) -> Training:
    net = _net(plan, start)
    optimizer = optimizer_of(plan, net)
    averages = {name: start[name].copy() for name in TRAINED} if plan.average else {}
    steps = []
    for number, (x, y) in enumerate(batches_of(plan), 1):
        steps.append(_step(plan, net, optimizer, number, x, y, averages))
    kind = type(optimizer)
    return Training(
        name=f"{plan.framework}",
        framework="torch",
        engine="torch-tape",
        optimizer=f"{kind.__module__}.{kind.__qualname__}",
        versions={"torch": str(torch.__version__)},
        start=starts(plan, start),
        steps=tuple(steps),
    )


def _step(
    plan: Plan, net: Any, optimizer: Any, number: int, x: Any, y: Any, averages: Arrays
) -> TrainingStep:
    for group in optimizer.param_groups:
        group["lr"] = plan.rate(number)
    parameters = dict(net.named_parameters())
    if not plan.keeps_gradients:
        optimizer.zero_grad()
    scale = plan.scale or 1.0
    batches = []
    for inputs, targets, weight in parts_of(plan, x, y):
        loss = nn.functional.mse_loss(
            net(torch.from_numpy(inputs)), torch.from_numpy(targets), reduction=plan.reduction
        )
        before = _gradients(parameters)
        (loss * weight * scale).backward()
        added = {name: g - before.get(name, 0 * g) for name, g in _gradients(parameters).items()}
        batches.append(Batch(leaves({"x": inputs, "y": targets}), loss.item(), leaves(added)))
    if number == plan.overflows_at:
        parameters["fc1.weight"].grad[0, 0] = np.inf
    gradients = _gradients(parameters)
    finite = all(np.isfinite(g).all() for g in gradients.values())
    norm = _clip(plan, parameters, scale)
    skipped = plan.scale is not None and not finite and plan.skips
    settings = {
        key: value
        for key, value in optimizer.param_groups[0].items()
        if key not in ("params", "lr")
    }
    betas = dict(zip(("beta1", "beta2"), settings.pop("betas", ()), strict=False))
    settings = {
        key: value
        for key, value in (settings | betas).items()
        if isinstance(value, (bool, int, float))
    }
    given = _gradients(parameters)
    if not skipped:
        optimizer.step()
    for name in averages:
        averages[name] = (
            plan.average * averages[name] + (1 - plan.average) * _arrays(parameters)[name]
        )
    state = {
        f"{name}.{key}": np.asarray(value.numpy().copy())
        for name, parameter in parameters.items()
        for key, value in optimizer.state[parameter].items()
        if isinstance(value, torch.Tensor)
    }
    buffers = {name: net.state_dict()[name].numpy().copy() for name in BUFFERS}
    return TrainingStep(
        number=number,
        batches=tuple(batches),
        scale=plan.scale,
        skipped=skipped,
        gradients=leaves(gradients),
        norm=norm,
        given=leaves(given),
        groups=groups_of(plan, plan.rate(number), settings),
        weights=leaves(_arrays(parameters)),
        buffers=leaves(buffers),
        state=leaves(state),
        averages=leaves(averages),
    )


def _arrays(parameters: dict[str, Any]) -> Arrays:
    return {name: p.detach().numpy().copy() for name, p in parameters.items()}


def _gradients(parameters: dict[str, Any]) -> Arrays:
    return {name: p.grad.numpy().copy() for name, p in parameters.items() if p.grad is not None}


def _clip(plan: Plan, parameters: dict[str, Any], scale: float) -> float | None:
    """Unscale and clip in the order of the plan."""
    norm = None
    trained = [p for p in parameters.values() if p.grad is not None]
    if plan.clip == "norm_before_unscale":
        norm = nn.utils.clip_grad_norm_(trained, plan.limit).item()
    if plan.unscales:
        for parameter in trained:
            parameter.grad.div_(scale)
    if plan.clip == "norm":
        norm = nn.utils.clip_grad_norm_(trained, plan.limit).item()
    if plan.clip == "value":
        nn.utils.clip_grad_value_(trained, plan.limit)
    if plan.clip == "norm_each":
        for parameter in trained:
            nn.utils.clip_grad_norm_([parameter], plan.limit)
    return norm
