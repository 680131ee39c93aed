"""From gradients to new weights in MindSpore: clipping, accumulation, and optimizers."""

import inspect
from typing import Any

import mindspore as ms
from mindspore import nn, ops
from mindspore.experimental import optim

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt, attempt_briefly, raised
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.training.in_mindspore import fresh_net, state, tensors, torch_name
from explorer.topics.training.inputs import (
    BATCH,
    DECAYED,
    MICRO_BATCHES,
    MINIMUM,
    OPTIMIZER_METHODS,
    OWN_MOMENTUM,
    OWN_RATE,
    RATE,
    WEIGHT,
    batches,
    gradients,
    loads_own_state,
)
from explorer.topics.training.update_rules import moved_weights

MODULES: dict[str, Any] = {"nn": nn, "experimental": optim}
RATE_SETTING = {"nn": {"learning_rate": RATE}, "experimental": {"lr": RATE}}
"""The learning rate as each module's optimizers take it."""


# Between the backward pass and the update


def clipping(ask: Ask) -> Found:
    """Gradients clipped by their global norm, and by value.

    The norm is the default one, and each of those asked for.
    """
    set_style(ask.options["style"], ask.device)

    def fresh_gradients() -> tuple[Any, ...]:
        """The gradients to clip, in tensors of their own."""
        return tuple(ms.Tensor(values, ms.float32) for values in ask.options["gradients"])

    def clipped(**settings: Any) -> Any:
        """The gradients clipped by their global norm, as numbers."""
        return numbers(ops.clip_by_global_norm(fresh_gradients(), **settings))

    parameters = inspect.signature(ops.clip_by_global_norm).parameters
    limit = ask.options["value"]
    originals = fresh_gradients()  # clipped gradients are returned: these must stay as they are
    ops.clip_by_global_norm(originals)
    return Found(
        {
            "default": parameters["clip_norm"].default,
            "by default": attempt(clipped),
            "by norm": {
                str(norm): attempt(clipped, clip_norm=norm) for norm in ask.options["norms"]
            },
            "by value": numbers(ops.clip_by_value(fresh_gradients(), -limit, limit)),
            "given gradients afterwards": numbers(originals),
        }
    )


def accumulation(ask: Ask) -> Found:
    """The gradient of a batch of eight, and of its four micro-batches added up.

    Both with a mean as the loss, and with a sum.
    """
    return Found({reduction: _accumulated(ask, reduction) for reduction in ("mean", "sum")})


def _accumulated(ask: Ask, reduction: str) -> dict[str, Any]:
    net = fresh_net(ask.options["style"], ask.device)
    net.norm.set_train(ask.options["norm_in_training"])
    loss_of = nn.MSELoss(reduction=reduction)
    weights = net.trainable_params()

    def forward(x: Any, y: Any) -> Any:
        """The loss of a batch."""
        return loss_of(net(x), y)

    gradients_of = ms.grad(forward, None, weights)
    ((pictures, targets),) = batches(1, BATCH)
    whole = gradients_of(ms.Tensor(pictures), ms.Tensor(targets))

    # MindSpore has no .grad that a backward pass adds to: who accumulates adds up.
    size = BATCH // MICRO_BATCHES
    added: list[Any] = []
    for first in range(0, BATCH, size):
        part = slice(first, first + size)
        gradients = gradients_of(ms.Tensor(pictures[part]), ms.Tensor(targets[part]))
        if not added:
            added = list(gradients)
            continue
        for index, gradient in enumerate(gradients):
            added[index] = added[index] + gradient
    divided = [gradient / MICRO_BATCHES for gradient in added]

    names = [torch_name(weight) for weight in weights]
    return {
        "whole": dict(zip(names, numbers(whole), strict=True)),
        "added": dict(zip(names, numbers(added), strict=True)),
        "divided": dict(zip(names, numbers(divided), strict=True)),
    }


# Optimizers


def updates(ask: Ask) -> Found:
    """The weight after each of five given gradients, by every optimizer asked for."""
    set_style("tape", ask.device)
    figures = {}
    for rule, (name, settings) in ask.options["optimizers"].items():
        figures[rule] = attempt(_path_of, ask.options["place"], name, settings)
    return Found(figures)


def _path_of(place: str, name: str, settings: dict[str, Any]) -> Any:
    """The path of a weight under an optimizer of one module, by its name and settings."""
    ready = dict(settings)
    if "step_sizes" in ready:
        # nn.Rprop insists on a tuple (2.10.0), which has become a list on its way into the worker.
        ready["step_sizes"] = tuple(ready["step_sizes"])
    weight = _weight("weight", WEIGHT)
    return _path(weight, getattr(MODULES[place], name)([weight], **ready))


def _path(weight: Any, optimizer: Any) -> list[Any]:
    """The weight after each of the given gradients."""
    path = []
    for gradient in gradients():
        optimizer((ms.Tensor(gradient),))
        path.append(numbers(weight))
    return path


def _weight(name: str, value: Any) -> Any:
    return ms.Parameter(ms.Tensor(value), name=name)


def minimized(ask: Ask) -> Found:
    """Where mindspore.scipy.optimize.minimize ends, from zeros, by each method; on the tape."""
    set_style("tape", ask.device)
    figures = {}
    for method in ask.options["methods"]:
        figures[method] = attempt(_end_of, method)
    return Found(figures)


def _end_of(method: str) -> Any:
    """The point at which a method ends, for the sum of squares of what lies off MINIMUM."""
    from mindspore.scipy.optimize import minimize

    def squares(x: Any) -> Any:
        return ((x - ms.Tensor(MINIMUM)) ** 2).sum()

    start = ms.Tensor([0.0] * len(MINIMUM))
    return numbers(minimize(squares, start, method=method, options={"maxiter": 50}).x)


def exported(ask: Ask) -> Found:
    """The optimizers that each module exports."""
    return Found({"nn": sorted(nn.optim.__all__), "experimental": sorted(optim.__all__)})


def takes_groups(ask: Ask) -> Found:
    """How many rates each optimizer of mindspore.nn has for two groups, or what it raises.

    What takes an optimizer in place of parameters is left out.
    """
    set_style("tape", ask.device)
    figures = {}
    for name in sorted(nn.optim.__all__):
        optimizer = getattr(nn, name)
        if isinstance(optimizer, type) and name not in WITHOUT_PARAMETERS:
            settings = {"learning_rate": 0.1, **NEEDED.get(name, {})}
            figures[name] = attempt_briefly(_rates_of_groups, optimizer, settings)
    return Found(figures)


WITHOUT_PARAMETERS = (
    "AdaSumByDeltaWeightWrapCell",
    "AdaSumByGradWrapCell",
    "LARS",
    "OptTFTWrapper",
    "Optimizer",
)
"""Classes of the module that take an optimizer, and the base class."""

NEEDED: dict[str, dict[str, Any]] = {
    "AdaFactor": {"relative_step": False, "warmup_init": False},  # else it takes no rate at all
    "Momentum": {"momentum": 0.9},
}
"""What some optimizers need before they take a rate."""


def _rates_of_groups(optimizer: Any, settings: dict[str, float]) -> int:
    first, second = (_weight(name, [[1.0]]) for name in ("first", "second"))
    groups = [{"params": [first], "lr": 0.1}, {"params": [second], "lr": 0.2}]
    made = optimizer(groups, **settings)
    return len({float(rate.asnumpy()) for rate in made.learning_rate})


def weight_decay(ask: Ask) -> Found:
    """What weight decay leaves of weights that are 1, after one step with gradient 0.

    The decay is that by default, and 0.1.
    """
    set_style("tape", ask.device)

    def weights_left(place: str, name: str, settings: dict[str, Any]) -> Any:
        """What the step leaves of each weight, by name."""
        # mindspore.nn spares weights with "beta" or "gamma" in their names (2.10.0).
        weights = [_weight(key, [1.0]) for key in DECAYED]
        optimizer = getattr(MODULES[place], name)(weights, **RATE_SETTING[place], **settings)
        optimizer(tuple(ms.Tensor([0.0]) for _ in weights))
        return {weight.name: numbers(weight)[0] for weight in weights}

    figures = {}
    for place, name, settings in ask.options["optimizers"]:
        figures[f"{place} {name}"] = {
            "default": attempt(weights_left, place, name, settings),
            "0.1": attempt(weights_left, place, name, {**settings, "weight_decay": 0.1}),
        }
    return Found(figures)


def groups(ask: Ask) -> Found:
    """Two steps with a setting of its own for the first of two weights.

    They show whether a group takes the setting, and what it does.
    """
    set_style("tape", ask.device)

    def weights_moved(place: str, setting: dict[str, Any], width: int) -> Any:
        """The beginning of both weights' rows of length ``width``, after the steps."""
        # The weights start as copies of the gradient: they are changed in place.
        row = ms.Tensor([[1.0, 3.0] * (width // 2)])
        first, second = _weight("first", row.copy()), _weight("second", row.copy())
        optimizer = MODULES[place].SGD(
            [{"params": [first], **setting}, {"params": [second]}], **RATE_SETTING[place]
        )
        for _ in range(2):
            optimizer((row, row))
        return {"first": numbers(first)[0][:2], "second": numbers(second)[0][:2]}

    figures: dict[str, Any] = {}
    for place in MODULES:
        figures[place] = {}
        for name, (setting, width) in ask.options["settings"].items():
            figures[place][name] = attempt(weights_moved, place, setting, width)
    return Found(figures)


def add_param_group(ask: Ask) -> Found:
    """A group added to an optimizer that exists, and one step after it.

    Of every optimizer asked for.
    """
    set_style("tape", ask.device)

    def step_with_new_group(place: str, name: str) -> Any:
        """Both weights after the step, of which the second came with the new group."""
        # Optimizers of mindspore.nn have no add_param_group; those of mindspore.experimental.optim
        # have no state for the new group, and raise at the next step (2.10.0).
        first, second = _weight("first", [1.0]), _weight("second", [1.0])
        optimizer = getattr(MODULES[place], name)([first], **RATE_SETTING[place])
        optimizer.add_param_group({"params": [second], "lr": 0.5})
        optimizer((ms.Tensor([1.0]), ms.Tensor([1.0])))
        return {"first": numbers(first), "second": numbers(second)}

    figures = {}
    for place in MODULES:
        figures[place] = {
            name: attempt(step_with_new_group, place, name) for name in ask.options["optimizers"]
        }
    return Found(figures)


def filtered(ask: Ask) -> Found:
    """What trainable_params() is, and one step of an optimizer of some parameters.

    It is given only those with "fc" in their names.
    """
    net = fresh_net("tape", ask.device)
    parameters = net.trainable_params()
    # As the guide filters: by a part of the name.
    chosen = [parameter for parameter in net.trainable_params() if "fc" in parameter.name]
    again = len(list(parameters)) == len(list(parameters))  # a list can be gone through twice
    before = state(net)
    loss_of, optimizer = nn.MSELoss(), nn.SGD(chosen, RATE)

    def forward(x: Any, y: Any) -> Any:
        """The loss of a batch."""
        return loss_of(net(x), y)

    optimizer(ms.grad(forward, None, chosen)(*tensors()[0]))
    return Found(
        {
            "type": type(parameters).__name__,
            "again": again,
            "count": len(list(parameters)),
            "get_parameters": type(net.get_parameters()).__name__,
            "chosen": [parameter.name for parameter in chosen],
            "moved": moved_weights(before, state(net)),
        }
    )


def optimizer_state(ask: Ask) -> Found:
    """What an optimizer reports of itself after one step.

    Its methods, the names in its state_dict, whether it loads that, and the rate it says it has.
    """
    set_style("tape", ask.device)

    def state_of(place: str) -> Any:
        """The state of an SGD optimizer of one module, after one step."""
        weight = _weight("weight", [1.0])
        optimizer = MODULES[place].SGD([weight], **RATE_SETTING[place], momentum=0.9)
        optimizer((ms.Tensor([1.0]),))
        return {
            "has": {name: hasattr(optimizer, name) for name in OPTIMIZER_METHODS},
            "state_dict": attempt(_names_in_state, optimizer),
            "load_state_dict": attempt_briefly(loads_own_state, optimizer),
            "get_lr": attempt(_rate_of, optimizer),
        }

    figures = {place: state_of(place) for place in MODULES}
    optimizer = optim.SGD([_weight("weight", [1.0])], lr=RATE)
    scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    scheduler.step()
    return Found({**figures, "scheduler.get_last_lr": numbers(scheduler.get_last_lr())})


def _names_in_state(optimizer: Any) -> list[str]:
    return sorted(optimizer.state_dict())


def _rate_of(optimizer: Any) -> Any:
    return numbers(optimizer.get_lr())


def looked_up(ask: Ask) -> Found:
    """What mindspore.nn has under each of the names asked for, or what it says instead."""

    def under(name: str) -> Any:
        """The name of what is found."""
        return getattr(nn, name).__name__

    return Found({name: attempt(under, name) for name in ask.options["names"]})


def thor(ask: Ask) -> Found:
    """Whether a step of thor can be taken here; it is given a net and not parameters."""
    set_style("tape", ask.device)

    def step() -> str:
        """Says that it was taken."""
        net = nn.SequentialCell(nn.Dense(2, 2), nn.Dense(2, 1))
        optimizer = nn.thor(net, ms.Tensor([RATE]), ms.Tensor([0.1]), OWN_MOMENTUM)
        optimizer(tuple(ops.ones_like(parameter) for parameter in optimizer.parameters))
        return "taken"

    return Found({"step": attempt_briefly(step)})


def scaling(ask: Ask) -> Found:
    """What takes the call as the guide prints it, and what steps of SGD leave of a weight that is 1.

    With the argument loss_scale, and with the gradient divided by hand; with weight decay too.
    No step where the argument is unknown.
    """
    set_style("tape", ask.device)
    place, options = ask.options["place"], ask.options
    gradient, scale, decay = options["gradient"], options["scale"], options["decay"]

    def weight_left(value: float, **settings: Any) -> Any:
        """The weight after one step with a gradient of ``value``."""
        weight = _weight("weight", [1.0])
        optimizer = MODULES[place].SGD([weight], **RATE_SETTING[place], **settings)
        optimizer((ms.Tensor([value]),))
        return numbers(weight)[0]

    figures = {
        "as printed": {
            name: attempt(
                printed_call, getattr(MODULES[place], name), RATE, [_weight("weight", [1.0])]
            )
            for name in ("Optimizer", "SGD")
        },
        "scaled": attempt(weight_left, gradient, loss_scale=scale),
    }
    if raised(figures["scaled"]):
        return Found(figures)
    divided = gradient / scale
    decayed = {"weight_decay": decay}
    figures["whole"] = weight_left(gradient)
    figures["divided by hand"] = weight_left(divided)
    figures["scaled, decayed"] = weight_left(gradient, loss_scale=scale, **decayed)
    figures["divided by hand, decayed"] = weight_left(divided, **decayed)
    return Found(figures)


def printed_call(optimizer: Any, learning_rate: Any, parameters: Any) -> str:
    """The call of an optimizer, for any class; the name of what is made."""
    made = optimizer(learning_rate, parameters, weight_decay=0.0, loss_scale=1.0)
    return type(made).__name__


def param_groups(ask: Ask) -> Found:
    """The settings that an optimizer tells of its two groups, of which the first has its own rate."""
    set_style("tape", ask.device)
    place = ask.options["place"]

    def settings() -> Any:
        """The settings of each group, and how many parameters it has."""
        first, second = _weight("first", [1.0]), _weight("second", [1.0])
        optimizer = MODULES[place].SGD(
            [{"params": [first], "lr": OWN_RATE}, {"params": [second]}],
            **RATE_SETTING[place],
            momentum=OWN_MOMENTUM,
        )
        groups = []
        for group in optimizer.param_groups:
            told = {key: numbers(value) for key, value in group.items()}
            told["params"] = len(group["params"])
            groups.append(told)
        return groups

    return Found({"groups": attempt(settings)})


# Momentum


def momentum(ask: Ask) -> Found:
    """A weight after each of some equal gradients, by every way to write momentum and in each style.

    A way that raises has its message instead.
    """
    ways = {**as_printed(), **as_meant(), "nn.Momentum": nn.Momentum}
    figures: dict[str, Any] = {}
    for style in ("graph", "tape"):
        figures[style] = {}
        for name, optimizer_class in ways.items():
            set_style(style, ask.device)
            figures[style][name] = attempt_briefly(_momentum_path, optimizer_class, ask.options)
    return Found(figures)


def _momentum_path(optimizer_class: Any, options: dict[str, Any]) -> list[Any]:
    weight = ms.Parameter(ms.Tensor(options["weight"], ms.float32), name="weight")
    optimizer = optimizer_class([weight], options["rate"], options["momentum"])
    gradient = ms.Tensor(options["gradient"], ms.float32)
    path = []
    for _ in range(options["steps"]):
        optimizer((gradient,))
        path.append(numbers(weight))
    return path


# As the guide prints them


def as_printed() -> dict[str, Any]:
    """The guide's two optimizers, both of which it calls MomentumOpt."""
    return {
        "small operators, as printed": PrintedSmall,
        "ApplyMomentum, as printed": PrintedFused,
    }


class PrintedSmall(nn.Optimizer):  # type: ignore[misc]  # mindspore ships no types
    """The moments are read, and never written."""

    def __init__(self, params: Any, learning_rate: float, momentum: float) -> None:
        super().__init__(learning_rate, params)
        self.momentum = ms.Parameter(ms.Tensor(momentum, ms.float32), name="momentum")
        self.moments = self.parameters.clone(prefix="moments", init="zeros")
        self.assign = ops.Assign()

    def construct(self, gradients: Any) -> Any:
        """What the last assignment returns."""
        success = None
        for param, mom, grad in zip(self.parameters, self.moments, gradients):
            update = self.momentum * param + mom + self.learning_rate * grad
            success = self.assign(param, update)
        return success


class PrintedFused(nn.Optimizer):  # type: ignore[misc]  # mindspore ships no types
    """``self.momentum`` is used, and never set."""

    def __init__(self, params: Any, learning_rate: float, momentum: float) -> None:
        super().__init__(learning_rate, params)
        self.moments = self.parameters.clone(prefix="moments", init="zeros")
        self.opt = ops.ApplyMomentum()

    def construct(self, gradients: Any) -> Any:
        """What the last operator returns."""
        success = None
        for param, mom, grad in zip(self.parameters, self.moments, gradients):
            success = self.opt(param, mom, self.learning_rate, grad, self.momentum)
        return success


# As it must have meant them


def as_meant() -> dict[str, Any]:
    """The same two with the moments written, and the momentum set."""
    return {"small operators, as meant": MeantSmall, "ApplyMomentum, as meant": MeantFused}


class MeantSmall(nn.Optimizer):  # type: ignore[misc]  # mindspore ships no types
    """Each moment becomes momentum times itself plus the gradient; the weight moves against it."""

    def __init__(self, params: Any, learning_rate: float, momentum: float) -> None:
        super().__init__(learning_rate, params)
        self.momentum = ms.Parameter(ms.Tensor(momentum, ms.float32), name="momentum")
        self.moments = self.parameters.clone(prefix="moments", init="zeros")
        self.assign = ops.Assign()

    def construct(self, gradients: Any) -> Any:
        """What the last assignment returns."""
        success = None
        for param, mom, grad in zip(self.parameters, self.moments, gradients):
            moved = self.momentum * mom + grad
            self.assign(mom, moved)
            success = self.assign(param, param - self.learning_rate * moved)
        return success


class MeantFused(nn.Optimizer):  # type: ignore[misc]  # mindspore ships no types
    """The guide's class with ``self.momentum`` set."""

    def __init__(self, params: Any, learning_rate: float, momentum: float) -> None:
        super().__init__(learning_rate, params)
        self.momentum = ms.Parameter(ms.Tensor(momentum, ms.float32), name="momentum")
        self.moments = self.parameters.clone(prefix="moments", init="zeros")
        self.opt = ops.ApplyMomentum()

    def construct(self, gradients: Any) -> Any:
        """What the last operator returns."""
        success = None
        for param, mom, grad in zip(self.parameters, self.moments, gradients):
            success = self.opt(param, mom, self.learning_rate, grad, self.momentum)
        return success
