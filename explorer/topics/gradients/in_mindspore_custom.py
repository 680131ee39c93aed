"""A gradient written by hand in MindSpore: `bprop` of a Cell whose forward is numpy's."""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style


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
