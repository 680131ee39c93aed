"""What MindSpore's grad takes, what it does with outputs, and with a gradient written by hand."""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.gradients.inputs import (
    POSITIONS,
    one_output,
    squares,
    tuple_of_one,
    two_outputs,
)
from explorer.topics.in_mindspore import numbers, set_style


def stopped(x: Any) -> Any:
    """The sum of 9x², and 3x cut off from the gradient."""
    logits = x * 3
    return (logits * logits).sum(), ops.stop_gradient(logits)


def stopped_too_early(x: Any) -> Any:
    """The sum of 9x², and 3x, cut off before the sum is made of it."""
    logits = ops.stop_gradient(x * 3)
    return (logits * logits).sum(), logits


def outputs(ask: Ask) -> Found:
    """The gradient of each function, with has_aux and without, or what is raised."""
    style = ask.options["style"]
    return Found(
        {
            "has_aux": {
                "one output": attempt_briefly(gradient, style, one_output, True),
                "a tuple of one": attempt_briefly(gradient, style, tuple_of_one, True),
                "two outputs": attempt_briefly(gradient, style, two_outputs, True),
            },
            "without": {
                "two outputs": attempt_briefly(gradient, style, two_outputs, False),
                "stop_gradient": attempt_briefly(gradient, style, stopped, False),
                "stop_gradient too early": attempt_briefly(
                    gradient, style, stopped_too_early, False
                ),
            },
        }
    )


def gradient(style: str, function: Any, has_aux: bool) -> Any:
    """What grad returns for a function at x = (1, 2, 3)."""
    set_style(style)  # before each call: one that raised would spoil the next (2.10.0)
    return numbers(ms.grad(function, 0, None, has_aux)(ms.Tensor([1.0, 2.0, 3.0])))


class Sampler(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Some of the numbers above 0.5 of each row and their places, drawn by numpy."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def construct(self, x: Any) -> Any:
        """The numbers drawn, and their places."""
        values, places = [], []
        for row in range(x.shape[0]):
            elements = x[row].asnumpy()
            drawn = np.random.choice(np.where(elements > 0.5)[0], self.count)
            values.append(ms.Tensor(elements[drawn], ms.float32))
            places.append(ms.Tensor(drawn, ms.int32))
        return ops.stack(values, axis=0), ops.stack(places, axis=0)


def added_up(x: Any, places: Any, gradient: Any) -> Any:
    """The gradient of each number drawn, added up at its place."""
    rows = [
        ops.UnsortedSegmentSum()(gradient[row], places[row], x.shape[1])
        for row in range(x.shape[0])
    ]
    return ops.stack(rows, axis=0)


class AsPrinted(Sampler):
    """The sampler with a rule that returns a bare tensor, as the guide prints it."""

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        """The gradient with respect to the rows."""
        return added_up(x, out[1], dout[0])


class AsMeant(Sampler):
    """The sampler with a rule that returns a tuple, one gradient an input."""

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        """The gradient with respect to the rows, alone in a tuple."""
        return (added_up(x, out[1], dout[0]),)


def sampler(ask: Ask) -> Found:
    """The places drawn and the gradient, by the rule: none, the guide's, and its with a tuple."""
    cells = {"without": Sampler, "as printed": AsPrinted, "as meant": AsMeant}
    figures: dict[str, Any] = {}
    for rule in ask.options.get("rules", cells):
        figures[rule] = attempt_briefly(places_and_gradient, ask.options["style"], cells[rule](3))
    return Found(figures)


def places_and_gradient(style: str, cell: nn.Cell) -> dict[str, Any]:
    """What a call of the cell drew, and the gradient of its numbers' sum afterwards."""
    set_style(style)
    ms.set_seed(1)
    x = ms.Tensor(np.random.uniform(0, 3, (2, 5)), ms.float32)
    cell.set_grad()
    _, places = cell(x)
    gradient = ops.GradOperation(get_all=True)(cell)(x)
    return {"places": numbers(places), "gradient": numbers(gradient[0])}


# Positions and weights


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """One weight row, w = (2, 3), times the first input, times the second."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(2, 1, ms.Tensor([[2.0, 3.0]]), has_bias=False)

    def construct(self, x: Any, y: Any) -> Any:
        """One number."""
        return (self.fc(x) * y).sum()


def arguments(ask: Ask) -> Found:
    """The gradient that each position and each form of weights gives, or what it raises."""
    style = ask.options["style"]
    net = Net()
    weight = net.fc.weight
    forms: dict[str, Any] = {
        "ParameterTuple": ms.ParameterTuple([weight]),
        "Parameter": weight,
        "list": [weight],
        "tuple": (weight,),
        "string": "fc.weight",
        "Tensor": ms.Tensor([1.0]),
        "empty list": [],
        "one Parameter twice": [weight, weight],
        "another net's Parameter": [ms.Parameter(ms.Tensor([1.0]), name="other")],
    }
    positions: dict[str, Any] = {}
    for name, position in POSITIONS.items():
        positions[name] = attempt_briefly(gradient_by_arguments, style, net, position, None)
    weights: dict[str, Any] = {}
    for name, form in forms.items():
        weights[name] = attempt_briefly(gradient_by_arguments, style, net, None, form)
    return Found({"positions": positions, "weights": weights})


def gradient_by_arguments(style: str, net: nn.Cell, position: Any, weights: Any) -> Any:
    """What grad gives of the net."""
    set_style(style)  # before each call: one that raised would spoil the next (2.10.0)
    return numbers(ms.grad(net, position, weights)(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[4.0]])))


# What is returned by default, and by a function of a function


def defaults(ask: Ask) -> Found:
    """The gradient of the net by default, and its value with the gradients of all weights."""
    set_style(ask.options["style"])
    net = Net()
    inputs = ms.Tensor([[1.0, 2.0]]), ms.Tensor([[4.0]])
    with_weights = ms.value_and_grad(net, None, net.trainable_params())
    return Found(
        {
            "grad": numbers(ms.grad(net)(*inputs)),
            "value_and_grad": numbers(with_weights(*inputs)),
        }
    )


def functional(ask: Ask) -> Found:
    """The value and the gradient of the sum of squares."""
    set_style(ask.options["style"])
    value, gradient = ms.value_and_grad(squares)(ms.Tensor([1.0, 2.0, 3.0]))
    return Found({"value": numbers(value), "gradient": numbers(gradient)})
