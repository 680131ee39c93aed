"""Which ops are said to multiply rounding: from which factor on, and where noise is a zero's."""

from itertools import pairwise

import msgspec
import numpy as np
import pytest

from explorer.compare.results.remarks import FEW_TIMES, MULTIPLIES, ill_conditioned
from explorer.model.arrays import AnyArray
from explorer.model.graph import Edge, GradGraph, Node, NodeKind, Output, Phase
from explorer.numeric.summaries import summarise
from explorer.words.findings import sentence

ONES = np.array([1.0, -1.0, 1.0, -1.0], np.float32)
"""Values of size 1, relative to which noise is what it is."""

READ = 1e-7


def node(
    number: int, op: str, noise: float | None, values: AnyArray = ONES, phase: Phase = "forward"
) -> Node:
    kind: NodeKind = "op" if number else "input"
    output = Output(values.shape, values.dtype.name, summarise(values), noise)
    source = (f"net.py:{number}",) if number else ()
    return Node(
        id=f"n{number}", op=op, kind=kind, phase=phase, source=source, scope="bn", outputs=(output,)
    )


def chain(*nodes: Node, engine: str = "torch-tape") -> GradGraph:
    """A graph in which each node reads the one before it."""
    edges = [Edge(one.id, other.id) for one, other in pairwise(nodes)]
    return GradGraph(engine=engine, case="c", stage="tape", nodes=nodes, edges=tuple(edges))


def sentences(*graphs: GradGraph) -> list[str]:
    return [sentence(finding) for finding in ill_conditioned(graphs)]


X = node(0, "input", READ)


@pytest.mark.parametrize(("times", "count"), [(0.99, 0), (1.01, 1)])
def test_an_op_that_multiplies_noise_by_a_thousand_is_told_and_not_what_follows(
    times: float, count: int
) -> None:
    noise = times * MULTIPLIES * READ
    told = sentences(chain(X, node(1, "BatchNorm", noise), node(2, "Tanh", noise)))
    assert len(told) == count
    assert all("`BatchNorm` (bn, net.py:1) of torch-tape" in sentence for sentence in told)


def test_noise_is_relative_to_the_size_of_the_values() -> None:
    large = node(1, "Mul", 1e5 * READ, 1e5 * ONES)
    small = node(1, "Sub", READ, 1e-4 * ONES)
    assert sentences(chain(X, large)) == []
    (sentence,) = sentences(chain(X, small))
    assert "multiplies rounding errors by 10,000" in sentence
    assert "its inputs have an error of 1e-07" in sentence


def test_what_was_read_exactly_is_known_to_a_rounding() -> None:
    exact = node(0, "input", 0.0)
    assert sentences(chain(exact, node(1, "Exp", 0.9 * MULTIPLIES * 2**-24))) == []
    assert len(sentences(chain(exact, node(1, "Exp", 1.1 * MULTIPLIES * 2**-24)))) == 1


def test_float64_has_digits_to_lose() -> None:
    wide = ONES.astype(np.float64)
    assert sentences(chain(node(0, "input", 1e-16, wide), node(1, "Exp", 1e-9, wide))) == []


@pytest.mark.parametrize(
    ("op", "phase", "count"),
    [
        ("ReduceSum", "forward", 0),
        ("aten.sum.dim_IntList", "backward", 0),
        ("BatchNormGrad", "backward", 0),
        ("BatchNorm", "forward", 1),
    ],
)
def test_a_value_that_cancels_to_noise_is_a_zero(op: str, phase: Phase, count: int) -> None:
    assert len(sentences(chain(X, node(1, op, 0.9, phase=phase)))) == count
    # Of one that cancels in part, digits are lost.
    assert len(sentences(chain(X, node(1, op, 0.01, phase=phase)))) == 1


def test_behind_an_input_of_unknown_noise_nothing_is_said() -> None:
    unknown = node(0, "input", None)
    assert sentences(chain(unknown, node(1, "BatchNorm", 0.01))) == []


def test_a_line_is_told_once_by_its_worst_op() -> None:
    first, second = node(1, "Sub", 1e-3), node(2, "Sub", 5e-3)
    second = msgspec.structs.replace(second, source=first.source)
    edges = (Edge("n0", "n1"), Edge("n0", "n2"))
    graph = GradGraph(
        engine="torch-tape", case="c", stage="tape", nodes=(X, first, second), edges=edges
    )
    (sentence,) = sentences(graph)
    assert "by 50,000" in sentence
    assert "; so does 1 more op of this line" in sentence


def test_of_a_framework_s_graphs_the_tape_is_looked_at() -> None:
    bad, good = node(1, "BatchNorm", 1e-3), node(1, "BatchNorm", READ)
    tape, joint = chain(X, good), chain(X, bad, engine="torch-graph")
    assert sentences(joint, tape) == sentences(tape, joint) == []
    assert len(sentences(joint)) == 1
    other = chain(X, bad, engine="mindspore-graph")
    assert [finding.is_alarm for finding in ill_conditioned((tape, other))] == [False]


@pytest.mark.parametrize("op", ["BatchNorm", "aten.native_layer_norm.default", "GroupNorm"])
@pytest.mark.parametrize(("times", "count"), [(0.5, 0), (FEW_TIMES - 1, 0), (FEW_TIMES + 1, 1)])
def test_the_mean_that_a_norm_saves_of_centred_values_is_a_zero(
    op: str, times: float, count: int
) -> None:
    # Values of size 1 with a noise of READ, whose mean is that of rounding alone.
    mean = np.array([times * READ / 2], np.float32)
    outputs = [Output(ONES.shape, "float32", summarise(ONES), READ)]
    outputs.append(Output(mean.shape, "float32", summarise(mean), times * READ))
    norm = msgspec.structs.replace(node(1, op, READ), outputs=tuple(outputs))
    assert len(sentences(chain(X, norm))) == count
