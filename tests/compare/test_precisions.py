"""Values that one side alone rounds to a narrower dtype, and what is not that."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.arrays import AnyArray
from explorer.model.divergence import Rounded
from explorer.model.graph import GradGraph
from tests.support.computed_graphs import ComputedGraph, one_input

X = np.linspace(-1.7, 1.9, 8, dtype=np.float32).reshape(2, 4)

STEPS: dict[str, tuple[str, Callable[..., Any]]] = {
    "half": ("cast", lambda value: value.astype(np.float16)),
    "single": ("cast", lambda value: value.astype(np.float32)),
    "double": ("cast", lambda value: value.astype(np.float64)),
    "neg": ("neg", np.negative),
    "square": ("square", np.square),
    "reshape": ("reshape", lambda value: value.reshape(4, 2)),
    "round": ("round", np.round),
    "sum": ("sum", lambda value: np.asarray(value.sum(dtype=value.dtype))),
}


def net(engine: str, *steps: str, x: AnyArray = X) -> GradGraph:
    """The sine of an input, and some steps after one another."""

    def build(graph: ComputedGraph, node: int) -> int:
        node = graph.op("sin", np.sin, node, line=1)
        for line, step in enumerate(steps, 2):
            op, function = STEPS[step]
            node = graph.op(op, function, node, line=line)
        return node

    return one_input(engine, build, x)


PLAIN = net("a", "square", "sum")


@pytest.mark.parametrize(
    ("steps", "line", "other_line"),
    [
        (("half", "single", "square", "sum"), 2, 1),
        (("half", "reshape", "single", "reshape", "square", "sum"), 2, 1),
        (("half", "square", "single", "sum"), 2, 2),
        (("square", "half", "sum", "single"), 3, 3),
    ],
)
def test_rounding_on_one_side_is_a_divergence_at_its_line(
    steps: tuple[str, ...], line: int, other_line: int
) -> None:
    rounded = net("b", *steps)
    lines = [f"net.py:{other_line}", f"net.py:{line}"]
    for graphs, side, sources in (
        ((PLAIN, rounded), "right", lines),
        ((rounded, PLAIN), "left", lines[::-1]),
    ):
        alignment = align(*graphs)
        assert alignment.differing == ()
        (divergence,) = alignment.divergences
        assert isinstance(divergence, Rounded)
        assert (divergence.side, divergence.dtypes) == (side, ("float16", "float32"))
        assert [place.source for place in divergence.places] == sources


@pytest.mark.parametrize(
    ("steps", "other_steps"),
    [
        (("half", "single", "square", "sum"), ("half", "single", "square", "sum")),
        (("half", "single", "square", "sum"), ("half", "reshape", "single", "square", "sum")),
        (("half", "square", "single", "sum"), ("half", "single", "square", "sum")),
        (("half", "neg", "single", "square", "sum"), ("neg", "half", "single", "square", "sum")),
        # A wider dtype on the way, and rounding that changes no number.
        (("square", "sum"), ("double", "single", "square", "sum")),
        (("round", "square", "sum"), ("round", "half", "single", "square", "sum")),
    ],
)
def test_sides_that_both_round_or_of_which_neither_loses_digits_do_not_part(
    steps: tuple[str, ...], other_steps: tuple[str, ...]
) -> None:
    alignment = align(net("a", *steps), net("b", *other_steps))
    assert alignment.divergences == ()
