"""Folds the parameters that enter a merged module, and the gradients that leave it, into one each."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping

from explorer.drawing.collapse import Homes
from explorer.drawing.links import links_of, neighbours
from explorer.model.graph import GradGraph, Node


def with_leaves_folded(graph: GradGraph, homes: Homes, modules: Collection[str]) -> Homes:
    """The homes with the parameters of merged modules in one card, and their gradients in another.

    ``modules`` are the ids of nodes that show a merged module. A parameter that operators outside
    these read stays apart, and so does the gradient of an input.
    """
    before, after = neighbours(links_of(graph.edges))
    nodes = graph.by_id()
    groups: defaultdict[Hashable, list[str]] = defaultdict(list)
    for node in graph.nodes:
        if homes[node.id] != node.id:
            continue  # a state that is shown with its mover
        if node.kind == "parameter":
            around = {homes[reader] for reader in _first_readers(after[node.id], nodes)}
        elif _is_gradient_of_parameter(node, nodes):
            around = {homes[maker] for maker in before[node.id]}
        else:
            continue
        if around and around.issubset(modules):
            groups[node.kind, frozenset(around)].append(node.id)

    folded = dict(homes)
    for members in groups.values():
        folded.update(dict.fromkeys(members, members[0]))
    return folded


def _first_readers(readers: list[str], nodes: Mapping[str, Node]) -> list[str]:
    """The readers in the forward; those in the backward where there is none."""
    in_forward = [reader for reader in readers if nodes[reader].phase == "forward"]
    return in_forward or readers


def _is_gradient_of_parameter(node: Node, nodes: Mapping[str, Node]) -> bool:
    if node.kind != "output" or node.phase != "backward" or node.forward is None:
        return False
    return nodes[node.forward].kind == "parameter"
