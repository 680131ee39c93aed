"""The record of a gradient graph: nodes of forward and backward with their values, and the edges between them."""

from typing import Literal

import msgspec

from explorer.arrays import Summary

Kind = Literal["op", "input", "parameter", "constant", "accumulate", "call", "output"]
Phase = Literal["forward", "backward"]
EdgeKind = Literal["data", "saved", "control"]


class Output(msgspec.Struct, frozen=True):
    """One tensor that a node yields: its shape, its dtype name, and its values if they were observed."""

    shape: tuple[int, ...]
    dtype: str
    values: Summary | None = None


class Node(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One operator, leaf, or result of a gradient graph.

    ``id`` is "n0", "n1", … in traversal order. ``name`` is what a reader calls it: an input, a parameter, a gradient ("dx"), or
    empty. ``scope`` is the module path ("fc", "block.conv"), ``source`` is "file:line" with the user's line first.
    ``forward`` is the id of the forward node that a backward node derives from. ``order`` is the position in execution
    order. ``body`` names the subgraph that holds the node ("" for the main graph); a "call" node names those it enters in
    ``calls``. ``saved_bytes`` counts unique storages kept for backward. ``tape`` names the node of PyTorch's tape that ran
    the operator ("AddmmBackward0"). ``missing`` says why a value, a source or a forward link is absent: keys "values", "source",
    "forward".
    """

    id: str
    op: str
    kind: Kind
    phase: Phase
    name: str = ""
    scope: str = ""
    source: tuple[str, ...] = ()
    forward: str | None = None
    order: int = 0
    outputs: tuple[Output, ...] = ()
    body: str = ""
    calls: tuple[str, ...] = ()
    saved_bytes: int = 0
    tape: str = ""
    missing: dict[str, str] = {}


class Edge(msgspec.Struct, frozen=True, rename={"origin": "from", "target": "to", "output": "out", "input": "in"}):
    """A value on its way from output slot ``output`` of node ``origin`` to input slot ``input`` of node ``target``.

    "saved" edges carry a forward value into backward, "control" edges only an order of execution.
    """

    origin: str
    target: str
    output: int = 0
    input: int = 0
    kind: EdgeKind = "data"


class GradGraph(msgspec.Struct, frozen=True, kw_only=True):
    """One engine's gradient graph of one case.

    ``stage`` is a compiler pass ("validate"), "joint" or "tape". ``notes`` say what the engine could not observe.
    """

    engine: str
    case: str
    stage: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    notes: tuple[str, ...] = ()

    def by_id(self) -> dict[str, Node]:
        """The nodes, keyed by id."""
        return {node.id: node for node in self.nodes}


def lint(graph: GradGraph) -> list[str]:
    """Every way in which a graph breaks its contract, each as one sentence with the fact and the likely cause; [] when sound."""
    return [*_ids(graph), *_edges(graph), *_links(graph), *_cycle(graph)]


def _ids(graph: GradGraph) -> list[str]:
    wanted = [f"n{index}" for index in range(len(graph.nodes))]
    given = [node.id for node in graph.nodes]
    if given == wanted:
        return []
    index, odd = next((i, (got, want)) for i, (got, want) in enumerate(zip(given, wanted, strict=True)) if got != want)
    return [f"node {index} is called {odd[0]!r}, not {odd[1]!r}: ids are n0, n1, … in traversal order"]


def _edges(graph: GradGraph) -> list[str]:
    nodes = graph.by_id()
    found = []
    for edge in graph.edges:
        name = f"edge {edge.origin}→{edge.target}"
        lost = [end for end in (edge.origin, edge.target) if end not in nodes]
        if lost:
            found.append(f"{name} ends at {', '.join(lost)}, which is no node: a node was dropped after its edges were made")
            continue
        origin, target = nodes[edge.origin], nodes[edge.target]
        crosses = (origin.phase, target.phase) == ("forward", "backward") and origin.kind in {"op", "call", "accumulate"}
        if origin.phase == "backward" and target.phase == "forward":
            found.append(f"{name} leads from backward into forward: a phase is wrong")
        elif edge.kind == "data" and crosses:
            found.append(f"{name} carries a forward value into backward as 'data': it should be 'saved'")
        elif edge.kind == "saved" and not (origin.phase == "forward" and target.phase == "backward"):
            found.append(f"{name} is 'saved' but does not lead from forward into backward: a phase is wrong")
        if edge.kind != "control" and origin.outputs and edge.output >= len(origin.outputs):
            found.append(f"{name} leaves output {edge.output} of a node with {len(origin.outputs)}: slots are counted from 0")
    return found


def _links(graph: GradGraph) -> list[str]:
    nodes = graph.by_id()
    found = []
    for node in graph.nodes:
        if node.forward is None:
            continue
        linked = nodes.get(node.forward)
        if linked is None:
            found.append(f"{node.id} derives from {node.forward}, which is no node: the forward node was dropped")
        elif node.phase != "backward" or linked.phase != "forward":
            link = f"{node.id} ({node.phase}) derives from {linked.id} ({linked.phase})"
            found.append(f"{link}: a link leads from a backward node to a forward node")
    return found


def _cycle(graph: GradGraph) -> list[str]:
    waiting = dict.fromkeys((node.id for node in graph.nodes), 0)
    after: dict[str, list[str]] = {node: [] for node in waiting}
    for edge in graph.edges:
        if edge.origin in waiting and edge.target in waiting:
            waiting[edge.target] += 1
            after[edge.origin].append(edge.target)
    ready = [node for node, count in waiting.items() if not count]
    done = 0
    while ready:
        done += 1
        for target in after[ready.pop()]:
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    if done == len(waiting):
        return []
    stuck = [node for node, count in waiting.items() if count]
    return [f"{len(stuck)} nodes lie on or behind a cycle, first {stuck[0]}: a gradient graph has none; an edge is turned round"]
