"""Gradient graphs whose every value is computed while they are built."""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from explorer.engines.capture.builder import GraphBuilder
from explorer.engines.capture.lint import lint
from explorer.model.arrays import AnyArray
from explorer.model.graph import GradGraph, NodeKind, Output, Phase, Proof
from explorer.numeric.summaries import summarise

Function = Callable[..., Any]

SPOILED_BY = 1.001
"""What the greatest element of a spoiled value is multiplied by."""


class ComputedGraph:
    """A graph under construction: each method adds a node with its numpy values; nodes are numbers.

    Every op's values carry a relative ``noise``, as rounding does; one element of the first op
    called ``spoiled`` is wrong by a thousandth, and so is all that is computed from it.
    """

    def __init__(self, engine: str, *, noise: float = 0.0, spoiled: str = "") -> None:
        self.values: list[tuple[AnyArray, ...]] = []
        self._engine = engine
        self._noise = noise
        self._spoiled = spoiled
        self._rng = np.random.default_rng(7)
        self._builder = GraphBuilder()

    def hold(
        self,
        op: str,
        *values: Any,
        inputs: tuple[int | tuple[int, int], ...] = (),
        kind: NodeKind = "op",
        phase: Phase = "forward",
        observed: bool = True,
        **fields: Any,
    ) -> int:
        """A node with given values, one an output, which reads the first outputs of ``inputs``.

        Another output is read where it stands beside its node.
        """
        arrays = tuple(np.asarray(value) for value in values)
        if kind == "op" and self._noise:
            arrays = tuple(self._noisy(array) for array in arrays)
        if op == self._spoiled:
            self._spoiled = ""
            arrays = (spoiled(arrays[0]), *arrays[1:])
        outputs = []
        for array in arrays:
            summary = summarise(array) if observed else None
            outputs.append(Output(array.shape, array.dtype.name, summary))
        slots = tuple(it if isinstance(it, tuple) else (it, 0) for it in inputs)
        self.values.append(arrays)
        return self._builder.add(op, kind, phase, slots, outputs=tuple(outputs), **fields)

    def leaf(
        self, name: str, value: Any, kind: NodeKind = "parameter", phase: Phase = "forward"
    ) -> int:
        """A named parameter, or an input or constant of that name."""
        return self.hold(kind, value, kind=kind, phase=phase, name=name)

    def op(self, op: str, function: Function, *inputs: int, line: int = 0, **fields: Any) -> int:
        """An op at a line of net.py that computes ``function`` of its inputs.

        A function that returns a tuple gives the op several outputs.
        """
        computed = function(*(self.values[node][0] for node in inputs))
        values = computed if isinstance(computed, tuple) else (computed,)
        source = (f"net.py:{line}",) if line else ()
        return self.hold(op, *values, inputs=inputs, source=source, **fields)

    def back(self, op: str, function: Function, *inputs: int, **fields: Any) -> int:
        """An op of backward."""
        return self.op(op, function, *inputs, phase="backward", **fields)

    def result(self, name: str, node: int, phase: Phase = "forward", output: int = 0) -> None:
        """A named result: an output of a node."""
        result = self.hold(
            "output", self.values[node][output], kind="output", phase=phase, name=name
        )
        self._builder.connect((node, output), result, 0)

    def record(self) -> GradGraph:
        """The graph as an engine would hand it over."""
        graph = self._builder.record(self._engine, "grad", "tape")
        assert lint(graph) == []
        return graph

    def _noisy(self, value: AnyArray) -> AnyArray:
        noisy: AnyArray = value * (1 + self._noise * self._rng.standard_normal(value.shape))
        return noisy


def spoiled(value: AnyArray) -> AnyArray:
    """A value whose greatest element is wrong by a thousandth."""
    wrong = np.array(value)
    wrong.flat[int(wrong.argmax())] *= SPOILED_BY
    return wrong


def one_input(engine: str, build: Callable[[ComputedGraph, int], int], x: Any = None) -> GradGraph:
    """A net of one input "x" whose result "out" is the node that ``build`` adds.

    ``x`` is by default a random matrix of shape (4, 4).
    """
    graph = ComputedGraph(engine)
    value = np.random.default_rng(1).standard_normal((4, 4)) if x is None else x
    graph.result("out", build(graph, graph.leaf("x", value, "input")))
    return graph.record()


def proved(graph: GradGraph, op: str, proof: Proof) -> GradGraph:
    """A graph that says whether the values of the ops of one name are proven."""
    nodes = list(graph.nodes)
    for place, node in enumerate(nodes):
        if node.op == op:
            nodes[place] = msgspec.structs.replace(node, proof=proof)
    return msgspec.structs.replace(graph, nodes=tuple(nodes))
