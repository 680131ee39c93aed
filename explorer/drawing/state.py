"""Finds what a forward only moves: running statistics, shown with the operator that moves them."""

from collections import defaultdict

import msgspec

from explorer.drawing.links import Neighbours, links_of, neighbours
from explorer.model.graph import GradGraph, Node


class _Surroundings(msgspec.Struct, frozen=True):
    """A graph's nodes by id, and the neighbours of each."""

    nodes: dict[str, Node]
    before: Neighbours
    after: Neighbours


def state_homes(graph: GradGraph) -> dict[str, str]:
    """The operator that every node of a moved state is shown with, keyed by the node's id.

    A state is a parameter that the forward itself changes. Its nodes are the parameter, where only
    that operator reads it, the output that has its new value, and steps that nothing reads: PyTorch
    counts batches by one.
    """
    nodes = graph.by_id()
    around = _Surroundings(nodes, *neighbours(links_of(graph.edges)))
    parameters = {node.name: node.id for node in graph.nodes if node.kind == "parameter"}
    homes: dict[str, str] = {}
    for node in graph.nodes:
        if is_moved_state(node, parameters) and not around.after[node.id]:
            mover = around.before[node.id][0] if around.before[node.id] else ""
            if mover and nodes[mover].kind == "op":
                homes[node.id] = mover
                _take_parameter(homes, parameters[node.name], mover, around)
    _take_counters(homes, graph, around)
    return homes


def is_moved_state(node: Node, parameters: dict[str, str]) -> bool:
    """Whether a node is the new value of one of the ``parameters``, which are keyed by name."""
    is_output = node.kind == "output" and node.phase == "forward"
    return is_output and node.name in parameters


def _take_parameter(
    homes: dict[str, str], parameter: str, mover: str, around: _Surroundings
) -> None:
    """Show a moved parameter with its mover, where no other operator of the forward reads it."""
    for reader in around.after[parameter]:
        is_elsewhere = homes.get(reader, reader) != mover
        if is_elsewhere and around.nodes[reader].phase == "forward":
            return
    homes[parameter] = mover


def _take_counters(homes: dict[str, str], graph: GradGraph, around: _Surroundings) -> None:
    """Show steps that nothing reads, and the parameters they count in, with their module's mover."""
    movers: defaultdict[str, set[str]] = defaultdict(set)
    for mover in homes.values():
        movers[around.nodes[mover].scope].add(mover)
    for node in graph.nodes:
        own_movers = movers.get(node.scope, set())
        is_step = node.kind == "op" and node.phase == "forward" and not around.after[node.id]
        if len(own_movers) != 1 or not is_step or node.id in own_movers:
            continue
        counted = around.before[node.id]
        if all(_is_counter(around.nodes[leaf], node.id, around) for leaf in counted):
            (mover,) = own_movers
            homes.update(dict.fromkeys((node.id, *counted), mover))


def _is_counter(leaf: Node, step: str, around: _Surroundings) -> bool:
    """Whether a leaf is a parameter that nothing but a step reads."""
    return leaf.kind == "parameter" and set(around.after[leaf.id]) == {step}
