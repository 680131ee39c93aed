"""A recorded step by the other one's names: parameters that begin alike, and what belongs to them."""

import msgspec
import numpy as np
import pytest

from explorer.compare.training.inputs import in_names_of_trace
from explorer.model.arrays import Array, pack
from explorer.model.results import Leaf
from explorer.model.state import StateChange
from explorer.model.trace import Start, Trace
from tests.recording.test_trace_files import sample_graph

SHAPES = {"fc.weight": (2, 3), "fc.bias": (2,), "head.weight": (4, 2), "head.bias": (4,)}


def trace(prefix: str = "", add: float = 0.0) -> Trace:
    """A step whose biases begin with zeros, and whose graph has a result for each parameter."""
    values: dict[str, Array] = {}
    for name, shape in SHAPES.items():
        value = np.zeros(shape, np.float32)
        if name.endswith("weight"):
            value += np.arange(value.size, dtype=np.float32).reshape(shape) + add
        values[prefix + name] = pack(value)
    graph = sample_graph()
    (result,) = [node for node in graph.nodes if node.name == "loss"]
    ends = (*(f"d{name}" for name in values), *(f"{name}.exp_avg" for name in values))
    nodes = tuple(msgspec.structs.replace(result, name=name) for name in ("loss", *ends))
    return Trace(
        name="step",
        framework="torch",
        start=tuple(Start(name, "parameter", value) for name, value in values.items()),
        results=tuple(Leaf(f"d{name}", value) for name, value in values.items()),
        state=tuple(StateChange(f"{name}.exp_avg", it, it) for name, it in values.items()),
        graph=msgspec.structs.replace(graph, nodes=nodes),
    )


@pytest.mark.parametrize(("one", "other"), [("", "model."), ("model.", ""), ("", "")])
def test_a_step_goes_by_the_names_of_what_begins_alike(one: str, other: str) -> None:
    assert in_names_of_trace(trace(one), trace(other)) == trace(one)


def test_a_step_that_begins_otherwise_keeps_its_names() -> None:
    other = trace("model.", add=1.0)
    assert in_names_of_trace(trace(), other) == other


def test_a_name_that_means_something_else_is_not_given_twice() -> None:
    own = Start("fc.weight", "parameter", pack(np.zeros(7, np.float32)))
    other = trace("model.")
    other = msgspec.structs.replace(other, start=(*other.start, own))
    assert in_names_of_trace(trace(), other) == other
