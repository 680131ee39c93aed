"""Runs a plan in MindSpore, and records it by PyTorch's names."""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.experimental import optim

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

NAMES = {
    "norm.gamma": "norm.weight",
    "norm.beta": "norm.bias",
    "norm.moving_mean": "norm.running_mean",
    "norm.moving_variance": "norm.running_var",
}
STATE = {
    "moment1": "exp_avg",
    "moment2": "exp_avg_sq",
    "moments": "momentum_buffer",
    "accum": "momentum_buffer",
    "adam_m": "exp_avg",
    "adam_v": "exp_avg_sq",
    "mean_square": "square_avg",
    "moment": "momentum_buffer",
    "exp_avg": "exp_avg",
    "exp_avg_sq": "exp_avg_sq",
}
"""The first part of the name of a state, and PyTorch's name of it."""

SETTINGS = {
    "epsilon": "eps",
    "decay": "alpha",
    "use_nesterov": "nesterov",
    "accum": "initial_accumulator_value",
    "use_amsgrad": "amsgrad",
}


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.fc1 = nn.Dense(INPUTS, HIDDEN)
        self.norm = nn.BatchNorm1d(HIDDEN, eps=plan.norm_eps, momentum=1 - plan.norm_momentum)
        self.fc2 = nn.Dense(HIDDEN, CLASSES)

    def construct(self, x: Any) -> Any:
        return self.fc2(ops.tanh(self.norm(self.fc1(x))))


def trained(plan: Plan) -> Training:
    """The record of a training, with its drift."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    return with_drift(plan, _run)


def _name(parameter: Any) -> str:
    name: str = parameter.name
    return NAMES.get(name, name)


def _copy(tensor: Any) -> Any:
    return tensor.asnumpy().copy()


def optimizer_of(plan: Plan, parameters: list[Any]) -> Any:
    module, _dot, name = plan.optimizer.rpartition(".")
    rate: dict[str, Any] = {"lr" if module == "optim" else "learning_rate": plan.rate(1)}
    settings = dict(plan.settings)
    groups: Any = parameters
    if plan.undecayed:
        decay = settings.pop("weight_decay", 0.0)
        decayed = [p for p in parameters if _name(p) not in plan.undecayed]
        plain = [p for p in parameters if _name(p) in plan.undecayed]
        groups = [
            {"params": decayed, "weight_decay": decay},
            {"params": plain, "weight_decay": 0.0},
        ]
    if module != "optim" and len(plan.rates) > 1:
        rate["learning_rate"] = [plan.rate(n) for n in range(1, plan.steps + 1)]
    return getattr({"nn": nn, "optim": optim}[module], name)(groups, **rate, **settings)


def _run(plan: Plan, start: Arrays) -> Training:
    net = Net(plan)
    net.set_train(True)
    for parameter in net.get_parameters():
        parameter.set_data(ms.Tensor(start[_name(parameter)]))
        parameter.requires_grad = (
            _name(parameter) in TRAINED and _name(parameter) not in plan.frozen
        )
    parameters = list(net.trainable_params())
    optimizer = optimizer_of(plan, parameters)
    averages = {name: start[name].copy() for name in TRAINED} if plan.average else {}
    loss_of = nn.MSELoss(reduction=plan.reduction)

    def forward(x: Any, y: Any, factor: Any) -> Any:
        loss = loss_of(net(x), y)
        return loss * factor, loss

    gradient_of = ms.value_and_grad(forward, None, parameters, has_aux=True)
    kept: list[Any] = []
    steps = []
    for number, (x, y) in enumerate(batches_of(plan), 1):
        steps.append(
            _step(plan, net, optimizer, gradient_of, kept, number, x, y, averages, parameters)
        )
    kind = type(optimizer)
    return Training(
        name=plan.framework,
        framework="mindspore",
        engine="mindspore-tape",
        optimizer=f"{kind.__module__}.{kind.__qualname__}",
        versions={"mindspore": ms.__version__},
        start=starts(plan, start),
        steps=tuple(steps),
    )


def _step(
    plan: Plan,
    net: Any,
    optimizer: Any,
    gradient_of: Any,
    kept: list[Any],
    number: int,
    x: Any,
    y: Any,
    averages: Arrays,
    parameters: list[Any],
) -> TrainingStep:
    scale = plan.scale or 1.0
    total = list(kept) if plan.keeps_gradients else []
    batches = []
    for inputs, targets, weight in parts_of(plan, x, y):
        (_scaled, loss), found = gradient_of(
            ms.Tensor(inputs), ms.Tensor(targets), ms.Tensor(weight * scale, ms.float32)
        )
        added = {_name(p): _copy(g) for p, g in zip(parameters, found, strict=True)}
        batches.append(
            Batch(leaves({"x": inputs, "y": targets}), float(loss.asnumpy()), leaves(added))
        )
        total = [a + b for a, b in zip(total, found, strict=True)] if total else list(found)
    kept[:] = total
    names = [_name(p) for p in parameters]
    gradients = {name: _copy(g) for name, g in zip(names, total, strict=True)}
    if number == plan.overflows_at:
        gradients["fc1.weight"][0, 0] = np.inf
        total[names.index("fc1.weight")] = ms.Tensor(gradients["fc1.weight"])
    finite = all(np.isfinite(g).all() for g in gradients.values())
    given, norm = _clipped(plan, total, scale)
    skipped = plan.scale is not None and not finite and plan.skips
    if not skipped:
        if hasattr(optimizer, "param_groups") and plan.optimizer.startswith("optim"):
            for group in optimizer.param_groups:
                group["lr"] = ms.Parameter(ms.Tensor(plan.rate(number), ms.float32), name="lr")
        optimizer(tuple(given))
    weights = {_name(p): _copy(p) for p in net.get_parameters()}
    for name in averages:
        averages[name] = plan.average * averages[name] + (1 - plan.average) * weights[name]
    return TrainingStep(
        number=number,
        batches=tuple(batches),
        scale=plan.scale,
        skipped=skipped,
        gradients=leaves(gradients),
        norm=norm,
        given=leaves({name: _copy(g) for name, g in zip(names, given, strict=True)}),
        groups=groups_of(plan, plan.rate(number), _settings(plan)),
        weights=leaves({name: weights[name] for name in TRAINED}),
        buffers=leaves({name: weights[name] for name in BUFFERS}),
        state=leaves(_state(optimizer, names)),
        averages=leaves(averages),
    )


def _settings(plan: Plan) -> dict[str, Any]:
    settings = {SETTINGS.get(key, key): value for key, value in plan.settings.items()}
    betas = settings.pop("betas", ())
    return settings | dict(zip(("beta1", "beta2"), betas, strict=False))


def _state(optimizer: Any, names: list[str]) -> Arrays:
    state = {}
    for parameter in optimizer.get_parameters():
        first, _dot, rest = parameter.name.partition(".")
        name = NAMES.get(rest, rest)
        if first in STATE and name in names:
            state[f"{name}.{STATE[first]}"] = _copy(parameter)
    return state


def _clipped(plan: Plan, gradients: list[Any], scale: float) -> tuple[list[Any], float | None]:
    norm = None
    found = list(gradients)
    if plan.clip == "norm_before_unscale":
        norm = _norm(found)
        found = list(ops.clip_by_global_norm(tuple(found), plan.limit))
    if plan.unscales:
        found = [g / scale for g in found]
    if plan.clip == "norm":
        norm = _norm(found)
        found = list(ops.clip_by_global_norm(tuple(found), plan.limit))
    if plan.clip == "value":
        found = [ops.clip_by_value(g, -plan.limit, plan.limit) for g in found]
    if plan.clip == "norm_each":
        found = [ops.clip_by_norm(g, plan.limit) for g in found]
    return found, norm


def _norm(gradients: list[Any]) -> float:
    return float(np.sqrt(sum((_copy(g).astype(np.float64) ** 2).sum() for g in gradients)))
