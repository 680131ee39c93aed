"""Momentum optimizers in MindSpore: as the guide prints them, as it must have meant them, and nn's."""

from typing import Any

import mindspore as ms
from mindspore import nn, ops

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style


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
            figures[style][name] = attempt_briefly(_path, optimizer_class, ask.options)
    return Found(figures)


def _path(optimizer_class: Any, options: dict[str, Any]) -> list[Any]:
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
