"""Subgraphs of MindSpore's IR: their names for a reader, and the calls that enter them."""

import numpy as np
import pytest

from explorer.engines.capture.builder import GraphBuilder, Slot
from explorer.engines.mindspore.subgraphs import SubgraphCall, SubgraphCalls, argument, readable
from explorer.model.graph import Edge, GradGraph, Output
from explorer.numeric.summaries import summarise
from tests.support.tables import rows

FLOATS = (Output((3,), "float32"),)
OBSERVED = (Output((3,), "float32", summarise(np.ones(3, np.float32))),)


def finished(builder: GraphBuilder) -> GradGraph:
    return builder.record("mindspore-graph", "a case", "validate")


def op(builder: GraphBuilder, name: str, *inputs: Slot, body: str = "") -> int:
    return builder.add(name, "op", "forward", inputs, body=body, outputs=FLOATS)


class Program:
    """Calls that are told what a walk over a program would tell them."""

    def __init__(self) -> None:
        self.builder = GraphBuilder()
        self.calls = SubgraphCalls(self.builder)

    def function(self, name: str, *results: Slot, callers: int = 1) -> None:
        """A subgraph that is entered by so many calls, and what comes out of it."""
        self.calls.callee(name).callers = callers
        self.calls.callee(name).results = list(results)

    def call(self, *names: str, takes: tuple[Slot, ...] = (), body: str = "") -> int:
        """A call that may enter any of some subgraphs."""
        number = self.builder.add("call", "call", "forward", body=body, calls=names, outputs=FLOATS)
        self.calls.calls[number] = SubgraphCall(names, (), takes)
        return number

    def dissolved(self) -> GradGraph:
        self.calls.connect_results(frozenset(), observed=True)
        self.calls.dissolve()
        self.calls.drop_unread([])
        return finished(self.builder)


# Names


@pytest.mark.parametrize(
    ("name", "condition", "words"),
    rows(__file__, "test_the_compilers_name_of_a_subgraph_is_put_in_words"),
)
def test_the_compilers_name_of_a_subgraph_is_put_in_words(
    name: str, condition: str, words: str
) -> None:
    assert readable(name, condition) == words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("▸фh", "h"),
        ("equiv_17_cube", "cube"),
        ("equiv_9_CNode_349", "argument"),
        ("Parameter_375", "argument"),
        ("x", "x"),
    ],
)
def test_a_parameter_of_a_subgraph_is_called_as_in_the_source(name: str, words: str) -> None:
    assert argument(name) == words


# Calls


@pytest.mark.slow
def test_functions_called_once_within_functions_called_once_leave_no_call_behind() -> None:
    depth = 5000
    program = Program()
    slot = op(program.builder, "Exp", body=f"f{depth}"), 0
    for level in reversed(range(depth)):
        program.function(f"f{level + 1}", slot)
        slot = program.call(f"f{level + 1}", body=f"f{level}" if level else ""), 0
    op(program.builder, "Neg", slot)
    graph = program.dissolved()
    assert [(node.id, node.op, node.body) for node in graph.nodes] == [
        ("n0", "Exp", ""),
        ("n1", "Neg", ""),
    ]
    assert graph.edges == (Edge("n0", "n1"),)


def test_a_function_that_several_places_call_stays_a_subgraph_fed_into_none_of_them() -> None:
    program = Program()
    inner = op(program.builder, "Exp", body="f"), 0
    program.function("f", inner, callers=2)
    x = op(program.builder, "x"), 0
    first, second = (program.call("f", takes=(x,)) for _ in range(2))
    graph = program.dissolved()
    assert [node.body for node in graph.nodes] == ["f", "", "", ""]
    assert graph.edges == (Edge("n1", f"n{second}"), Edge("n1", f"n{first}"))


def test_a_call_that_enters_one_of_several_is_fed_by_what_comes_out_of_each() -> None:
    program = Program()
    yes, no = op(program.builder, "Exp", body="yes"), op(program.builder, "Neg", body="no")
    program.function("yes", (yes, 0))
    program.function("no", (no, 0))
    call = program.call("yes", "no")
    assert program.dissolved().edges == (Edge("n0", f"n{call}"), Edge("n1", f"n{call}", 0, 1))


@pytest.mark.parametrize(
    ("idle", "shown"), [({"no"}, OBSERVED), ({"yes"}, FLOATS), (set(), FLOATS)]
)
def test_a_call_shows_the_values_of_the_subgraph_that_ran(
    idle: set[str], shown: tuple[Output, ...]
) -> None:
    program = Program()
    program.function("yes", (op(program.builder, "Exp", body="yes"), 0))
    program.builder.nodes[0].outputs = OBSERVED
    program.function("no", (op(program.builder, "Neg", body="no"), 0))
    call = program.call("yes", "no")
    program.calls.connect_results(frozenset(idle), observed=True)
    assert program.builder.nodes[call].outputs == shown


def test_constants_that_nobody_reads_go_and_what_the_program_returns_stays() -> None:
    program = Program()
    for _ in range(3):
        program.builder.add("constant", "constant", "forward", outputs=FLOATS)
    program.function("f", (2, 0))
    call = program.call("f")
    program.calls.dissolve()
    program.calls.drop_unread([(1, 0), (call, 0), None])
    assert list(program.builder.kept()) == [1, 2]
