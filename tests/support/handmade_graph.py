"""A gradient graph written down node by node, for tests that need no framework."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.graph import Absence, Arguments, Edge, GradGraph, Node, NodeKind, Output, Phase
from explorer.numeric.summaries import summarise


class HandmadeGraph:
    """Collects nodes and edges; ids follow the order in which nodes are added."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._edges: list[Edge] = []

    def add(
        self,
        op: str,
        reads: Sequence[str] = (),
        *,
        saved: Sequence[str] = (),
        kind: NodeKind = "op",
        phase: Phase = "forward",
        forward: str | None = None,
        name: str = "",
        scope: str = "",
        body: str = "",
        shape: tuple[int, ...] = (2, 8),
        value: AnyArray | float | None = None,
        dtype: str = "float32",
        noise: float | None = None,
        arguments: Arguments | None = None,
        missing: Absence | None = None,
        id_: str = "",
        line: int = 12,
    ) -> str:
        """Add a node that reads others, the ``saved`` ones as saved tensors; its id.

        ``shape`` is that of a node without a ``value``, and ``missing`` why it has none.
        """
        if value is None:
            output = Output(shape, "float32", noise=noise)
        else:
            array = np.asarray(value, dtype)
            output = Output(array.shape, array.dtype.name, summarise(array), noise)
        id_ = id_ or f"n{len(self._nodes)}"
        self._nodes[id_] = Node(
            id=id_,
            op=op,
            kind=kind,
            phase=phase,
            name=name,
            scope=scope,
            source=(f"net.py:{line}",) if line else (),
            forward=forward,
            order=len(self._nodes),
            outputs=(output,),
            body=body,
            arguments=arguments or {},
            missing={"values": missing} if missing else {},
        )
        for slot, origin in enumerate([*reads, *saved]):
            edge_kind = "data" if slot < len(reads) else "saved"
            self._edges.append(Edge(origin, id_, 0, slot, edge_kind))  # type: ignore[arg-type]
        return id_

    def leaf(
        self,
        name: str,
        kind: NodeKind = "parameter",
        value: AnyArray | None = None,
        shape: tuple[int, ...] = (2, 8),
    ) -> str:
        """Add an input or a parameter; its id."""
        return self.add(kind, kind=kind, name=name, value=value, shape=shape)

    def seed(self, op: str = "ones_like", value: AnyArray | float | None = None) -> str:
        """Add the constant that the backward begins with; its id."""
        return self.add(op, kind="constant", phase="backward", name="seed", value=value)

    def back(
        self,
        op: str,
        forward: str | None,
        reads: Sequence[str],
        saved: Sequence[str] = (),
        **fields: Any,
    ) -> str:
        """Add a backward operator that derives from the node ``forward``; its id."""
        return self.add(op, reads, saved=saved, phase="backward", forward=forward, **fields)

    def accumulate(self, op: str, reads: Sequence[str], **fields: Any) -> str:
        """Add a sum of gradients; its id."""
        return self.add(op, reads, kind="accumulate", phase="backward", **fields)

    def result(self, name: str, source: str, value: AnyArray | float | None = None) -> str:
        """Add an output of the net; its id."""
        return self.add("output", [source], kind="output", name=name, value=value)

    def gradient(self, name: str, source: str, value: AnyArray | None = None) -> str:
        """Add a gradient that the graph yields, linked to the leaf of its name; its id."""
        leaf = name.removeprefix("d").strip()
        leaves = [node.id for node in self._nodes.values() if node.name == leaf]
        return self.add(
            "output",
            [source],
            kind="output",
            phase="backward",
            name=name,
            value=value,
            forward=leaves[0] if leaves else None,
        )

    def node(self, id_: str) -> Node:
        """A node that was added."""
        return self._nodes[id_]

    def record(
        self, case: str = "grad(net, grad_position=0, weights=None)", engine: str = "torch-tape"
    ) -> GradGraph:
        """The graph of all that was added."""
        return GradGraph(
            engine=engine,
            case=case,
            stage="tape",
            nodes=tuple(self._nodes.values()),
            edges=tuple(self._edges),
        )


Step = tuple[str, str, AnyArray | float, str]
"""The id of an op, its name, its value, and the ids of what it reads."""


def of_steps(engine: str, *steps: Step, noise: float | None = None) -> GradGraph:
    """A graph of ops that are known by their ids alone, all of one noise."""
    made = HandmadeGraph()
    for id_, op, value, reads in steps:
        made.add(op, reads.split(), value=value, noise=noise, id_=id_, line=0)
    return made.record(engine=engine)


def of_operator(op: str, *arrays: AnyArray, arguments: Arguments | None = None) -> GradGraph:
    """An operator that reads some leaves, as a trace may have it."""
    g = HandmadeGraph()
    leaves = [g.add("input", kind="input", value=it, dtype=it.dtype.name) for it in arrays]
    g.add(op, leaves, arguments=arguments, id_="op")
    return g.record("a step")
