"""The figures of the claims on optimizers, and of the study of training."""

from functools import partial
from typing import Any

import numpy as np

from tests.independent.attempts import attempt, plain
from tests.independent.given_gradients import (
    RATE,
    START,
    Rule,
    adam,
    gradients,
    moments,
    weights_after,
)


# Row 53: what lists the parameters of a net.
def row_53_in_torch(torch: Any) -> dict[str, Any]:
    """The type of parameters(), the weights that are chosen by name, and those that a step moves."""
    net = torch.nn.Module()
    net.norm, net.fc = torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 1)
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


def row_53_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """The types of trainable_params() and get_parameters(), the weights chosen, and those moved."""
    net = ms.nn.Cell()
    net.norm, net.fc = ms.nn.BatchNorm1d(2).set_train(), ms.nn.Dense(2, 1)
    chosen = [each for each in net.trainable_params() if each.name.startswith("fc")]
    before = {each.name: each.asnumpy().copy() for each in net.trainable_params()}

    def loss(x: Any) -> Any:
        return (net.fc(net.norm(x)) ** 2).sum()

    optimizer = ms.nn.SGD(chosen, 0.1)
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


# Row 57: one step at a rate of 0.1 from a weight of 1 whose gradient is 0, with a decay of 0.1.
def row_57_closed_form() -> dict[str, Any]:
    """SGD adds the decay to the gradient; Adam then takes its sign; AdamW shrinks the weight itself."""
    decay = 0.1 * 1.0
    return {
        "SGD": 1 - 0.1 * decay,
        "Adam": 1 - 0.1 * decay / (decay**2) ** 0.5,
        "AdamW": 1 * (1 - 0.1 * 0.1),
        "AdamW by default": 1 * (1 - 0.1 * 0.01),
        "none": 1.0,
        "none of four": [1.0] * 4,
    }


# Row 58: two steps along a gradient of [1, 3] from that weight, in a group with a setting and without.
def row_58_closed_form() -> dict[str, Any]:
    """With a rate of 0.5, a decay of 0.5, a momentum of 0.9; and in the group without."""
    return {
        "lr": {"first": _stepped(rate=0.5), "second": _stepped()},
        "weight_decay": {"first": _stepped(decay=0.5), "second": _stepped()},
        "momentum": {"first": _stepped(momentum=0.9), "second": _stepped()},
    }


def _stepped(rate: float = RATE, decay: float = 0.0, momentum: float = 0.0) -> Any:
    weight, velocity = np.array([1.0, 3.0]), np.zeros(2)
    gradient = weight
    for _ in range(2):
        velocity = momentum * velocity + gradient + decay * weight
        weight = weight - rate * velocity
    return weight.tolist()


def row_58_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """What a step raises of a group with grad_centralization, of weights in rows of 16."""

    def centralized() -> Any:
        weight = ms.Parameter(ms.ops.ones((2, 16), ms.float32), name="weight")
        groups = [{"params": [weight], "grad_centralization": True}]
        return ms.nn.SGD(groups, RATE)((ms.ops.ones((2, 16), ms.float32),))

    return {"centralized": attempt(centralized)}


# Row 59: what an optimizer tells of itself.
WANTED = (
    "state_dict",
    "load_state_dict",
    "get_lr",
    "get_last_lr",
    "param_groups",
    "add_param_group",
)


def row_59_in_torch(torch: Any) -> dict[str, Any]:
    """Which of the names torch.optim.SGD has, and what the scheduler says after a step."""
    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    optimizer.step()
    scheduler.step()
    return {
        "has": {name: hasattr(optimizer, name) for name in WANTED},
        "get_last_lr": scheduler.get_last_lr(),
        "loads": attempt(_loads_own, optimizer),
    }


def row_59_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """Which of the names nn.SGD has, and what get_lr returns."""
    optimizer = ms.nn.SGD(ms.nn.Dense(2, 2).trainable_params(), learning_rate=0.1)
    return {
        "has": {name: hasattr(optimizer, name) for name in WANTED},
        "get_lr": float(optimizer.get_lr().asnumpy()),
        "names": sorted(_after_a_step(ms, ms.nn).state_dict()),
        "experimental has": hasattr(ms.experimental.optim.SGD, "state_dict"),
        "loads": {
            name: attempt(_loads_own, _after_a_step(ms, module))
            for name, module in (("nn", ms.nn), ("experimental", ms.experimental.optim))
        },
    }


def _after_a_step(ms: Any, module: Any) -> Any:
    weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
    optimizer = module.SGD([weight], 0.1, momentum=0.9)
    optimizer((ms.Tensor([1.0]),))
    return optimizer


def _loads_own(optimizer: Any) -> bool:
    optimizer.load_state_dict(optimizer.state_dict())
    return True


# Row 60: three steps of momentum from [1, 2, 3] with gradients of 1, as the guide prints it and as it is.
MOMENTUM = 0.9


def row_60_closed_form() -> dict[str, Any]:
    """The weights after each step."""
    gradient = np.ones(3)
    printed, weight = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    kept, velocity = np.zeros(3), np.zeros(3)
    figures: dict[str, Any] = {"as printed": [], "as meant": []}
    for _ in range(3):
        # The guide assigns the update to the weight, and never moves what it keeps.
        printed = MOMENTUM * printed + kept + RATE * gradient
        velocity = MOMENTUM * velocity + gradient
        weight = weight - RATE * velocity
        figures["as printed"].append(printed.tolist())
        figures["as meant"].append(weight.tolist())
    return figures


def row_60_in_mindspore(ms: Any) -> dict[str, Any]:
    """What the fused class as printed raises, and a training cell with a loss scale."""

    class Fused(ms.nn.Optimizer):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self, params: Any, learning_rate: Any, momentum: float = 0.9) -> None:
            super().__init__(learning_rate, params)
            self.moments = self.parameters.clone(prefix="moments", init="zeros")
            self.opt = ms.ops.ApplyMomentum()

        def construct(self, gradients: Any) -> Any:
            rate = self.get_lr()
            done = True
            for weight, moment, gradient in zip(self.parameters, self.moments, gradients):  # noqa: B905
                done = ms.ops.depend(done, self.opt(weight, moment, rate, gradient, self.momentum))
            return done

    def fused() -> Any:
        weight = ms.Parameter(ms.Tensor([1.0, 2.0, 3.0]), name="weight")
        return Fused([weight], RATE)((ms.Tensor([1.0, 1.0, 1.0]),))

    def scaled() -> Any:
        net = ms.nn.Dense(1, 1, has_bias=False)
        optimizer = ms.nn.SGD(net.trainable_params(), 0.1)
        scale = ms.Tensor(4.0, ms.float32)
        return ms.nn.TrainOneStepWithLossScaleCell(net, optimizer, scale)(ms.Tensor([[1.0]]))

    return {"fused": attempt(fused), "scaled": attempt(scaled)}


# Row 62: averaged SGD by its formula, and the names of MindSpore's optimizers.
LAMBDA, ALPHA = 1e-4, 0.75


def row_62_closed_form() -> dict[str, Any]:
    """The weights after each of five gradients under ASGD, before any averaging."""
    return {"ASGD": weights_after(_averaged)}


def _averaged(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    # The rate falls with the steps before this one; the common rate is taken out of it.
    fallen = (1 + LAMBDA * RATE * (step - 1)) ** -ALPHA
    return fallen * (gradient + LAMBDA * weight)


def row_62_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """The names that come from mindspore.nn.optim, the experimental optimizers, and a minimum found."""
    from mindspore.scipy.optimize import minimize

    def function(x: Any) -> Any:
        away = x - ms.Tensor([1.0, 2.0])
        return (away * away).sum()

    nn, optim = ms.nn, ms.experimental.optim
    return {
        "nn": [name for name in dir(nn) if _comes_from(getattr(nn, name), "mindspore.nn.optim")],
        "experimental": _optimizers(optim),
        # Where LBFGS ends for (a − 1)² + (b − 2)².
        "minimum": plain(minimize(function, ms.Tensor([0.0, 0.0]), method="LBFGS").x),
    }


def _optimizers(module: Any) -> list[str]:
    names = []
    for name, value in vars(module).items():
        if isinstance(value, type) and issubclass(value, module.Optimizer):
            names.append(name)
    return sorted(names)


def _comes_from(value: Any, package: str) -> bool:
    return callable(value) and getattr(value, "__module__", "").startswith(package)


# Row 64: what MindSpore's own optimizers leave after five gradients, by their formulas.
def row_64_closed_form() -> dict[str, Any]:
    """Proximal Adagrad without penalties is Adagrad, and Adam computes the same on another device."""
    # Follow the regularised leader, as in MindSpore's document, without penalties.
    weight, sums, linear = np.array(START), np.full(3, 0.1), np.zeros(3)
    followed = []
    for gradient in gradients():
        moved = sums + gradient.astype(float) ** 2
        linear = linear + gradient - (np.sqrt(moved) - np.sqrt(sums)) / RATE * weight
        sums = moved
        weight = -linear * RATE / np.sqrt(sums)
        followed.append(weight.tolist())
    return {
        "ProximalAdagrad": weights_after(partial(_adagrad, start=0.0)),
        "AdamOffload": weights_after(adam),
        "FTRL": followed,
    }


def row_64_in_torch(torch: Any) -> dict[str, Any]:
    """The names of its optimizers."""
    return {"names": _optimizers(torch.optim)}


def row_64_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """What stands in the way of the misprinted name, and of those that the CPU has no kernels for."""

    def misprinted() -> Any:
        return ms.nn.ProximalAadagrad

    def lamb() -> Any:
        weight = ms.Parameter(ms.Tensor(START), name="weight")
        return ms.nn.Lamb([weight], RATE)((ms.Tensor(gradients()[0]),))

    def thor() -> Any:
        net = ms.nn.SequentialCell(ms.nn.Dense(3, 3), ms.nn.Dense(3, 1))
        optimizer = ms.nn.thor(net, ms.Tensor([RATE]), ms.Tensor([0.03]), 0.9)
        return optimizer(tuple(ms.Tensor(each.asnumpy()) for each in optimizer.parameters))

    return {
        "ProximalAadagrad": attempt(misprinted),
        "Lamb": attempt(lamb),
        "thor": attempt(thor),
    }


# Row 66: one step of SGD at a rate of 0.1 from a weight of 1 with a gradient of 4 and a loss scale of 4.
def row_66_closed_form() -> dict[str, Any]:
    """The gradient divided by the scale, the gradient itself, and the former with a decay of 0.1."""
    divided = 4 / 4
    return {
        "scaled": 1 - 0.1 * divided,
        "whole": 1 - 0.1 * 4,
        "divided by hand": 1 - 0.1 * divided,
        "scaled, decayed": 1 - 0.1 * (divided + 0.1 * 1),
    }


def row_66_in_torch(torch: Any) -> dict[str, Any]:
    """What becomes of the argument in PyTorch."""
    weight = torch.ones(1, requires_grad=True)
    return {"named": attempt(lambda: torch.optim.SGD([weight], 0.1, loss_scale=4.0))}


def row_66_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """What becomes of it in the experimental module."""
    weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
    return {"named": attempt(lambda: ms.experimental.optim.SGD([weight], 0.1, loss_scale=4.0))}


# Row 67: two groups of weights, at rates of 0.5 and 0.1, with momentum 0.9 for both.
def row_67_closed_form() -> dict[str, Any]:
    """The settings as they were given."""
    return {"lr": [0.5, 0.1], "momentum": [0.9, 0.9]}


def row_67_in_torch(torch: Any) -> dict[str, Any]:
    """The names of the settings that PyTorch's groups tell."""
    first, second = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    groups = [{"params": first, "lr": 0.5}, {"params": second}]
    optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
    return {"settings": sorted(optimizer.param_groups[1])}


def row_67_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """The names that the experimental module's groups tell, and what nn raises when it is asked."""

    def groups_of(module: Any) -> Any:
        first = ms.Parameter(ms.Tensor([0.0]), name="first")
        second = ms.Parameter(ms.Tensor([0.0]), name="second")
        groups = [{"params": [first], "lr": 0.5}, {"params": [second]}]
        return module.SGD(groups, 0.1, momentum=0.9).param_groups

    return {
        "settings": sorted(groups_of(ms.experimental.optim)[1]),
        "nn": attempt(groups_of, ms.nn),
    }


# Row 68: which parameters the guide's two filters choose in a net of a convolution and a batch norm.
def row_68_in_torch(torch: Any) -> dict[str, Any]:
    """The names of those with "conv" in their names, as the guide prints, and of those without."""
    net = torch.nn.Module()
    net.conv, net.bn = torch.nn.Conv2d(3, 64, 3), torch.nn.BatchNorm2d(64)
    names = [name for name, _ in net.named_parameters()]
    return {
        "as printed": [name for name in names if "conv" in name],
        "as meant": [name for name in names if "conv" not in name],
    }


def row_68_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """The names without "conv", of all parameters, as the guide prints, and of those that are trained."""

    class Net(ms.nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            self.conv = ms.nn.Conv2d(3, 64, 3)
            self.bn = ms.nn.BatchNorm2d(64)

    net = Net()
    every = [parameter.name for parameter in net.get_parameters()]
    trained = [parameter.name for parameter in net.get_parameters() if parameter.requires_grad]
    return {
        "as printed": [name for name in every if "conv" not in name],
        "as meant": [name for name in trained if "conv" not in name],
    }


# Row 93: optimizers that refuse two groups with rates of their own.
def row_93_in_torch(torch: Any) -> dict[str, Any]:
    """What LBFGS and SGD make of two groups."""

    def groups() -> list[dict[str, Any]]:
        return [{"params": [torch.ones(1, requires_grad=True)], "lr": rate} for rate in (0.1, 0.2)]

    refused = attempt(lambda: torch.optim.LBFGS(groups()))
    return {"LBFGS": refused, "SGD": len(torch.optim.SGD(groups()).param_groups)}


def row_93_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """What FTRL and SGD make of two groups."""

    def groups() -> list[dict[str, Any]]:
        made = []
        for name, rate in (("first", 0.1), ("second", 0.2)):
            weight = ms.Parameter(ms.Tensor([1.0]), name=name)
            made.append({"params": [weight], "lr": rate})
        return made

    refused = attempt(lambda: ms.nn.FTRL(groups()))
    return {"FTRL": refused, "SGD": len(ms.nn.SGD(groups()).learning_rate)}


# The study of training: update rules, five steps from one weight at a rate of 0.1, in float64.
def study_training_closed_form() -> dict[str, Any]:
    """By the formulas of both frameworks' documents, those that part among them."""
    rules: dict[str, Rule] = {
        "SGD": lambda step, weight, gradient, state: gradient,
        "SGD with momentum": _momentum,
        "Nesterov momentum": _nesterov,
        "Adam": adam,
        "AdamW": lambda step, weight, *given: 0.1 * weight + adam(step, weight, *given),
        "AdamWeightDecay": _adam_weight_decay,
        "Adagrad": _adagrad,
        "RMSprop": _rms_prop,
        "RMSProp from ones": _rms_prop_from_ones,
    }
    return {name: weights_after(rule) for name, rule in rules.items()}


def _momentum(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    state["velocity"] = 0.9 * state.get("velocity", 0) + gradient
    return state["velocity"]


def _nesterov(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    return gradient + 0.9 * _momentum(step, weight, gradient, state)


def _adam_weight_decay(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    # MindSpore's AdamWeightDecay does not correct the bias of its moments.
    mean, square = moments(gradient, state)
    return 0.1 * weight + mean / (np.sqrt(square) + 1e-8)


def _adagrad(
    step: int, weight: Any, gradient: Any, state: dict[str, Any], start: float = 0.1
) -> Any:
    state["sum"] = state.get("sum", start) + gradient**2
    return gradient / np.sqrt(state["sum"])


def _rms_prop(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    state["square"] = 0.9 * state.get("square", 0) + 0.1 * gradient**2
    return gradient / (np.sqrt(state["square"]) + 1e-8)


def _rms_prop_from_ones(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    # MindSpore's mean of squares starts from ones, and its epsilon stands under the root.
    state["square"] = 0.9 * state.get("square", 1) + 0.1 * gradient**2
    return gradient / np.sqrt(state["square"] + 1e-8)
